#!/usr/bin/env python3
"""Writes tests/fuzz/corpus: small files of every curve format that reach most of each reader, sound ones and broken ones."""
import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parent / "corpus"


def put(name, content):
    path = ROOT / name.split(".")[-1] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def points(n, closed=False):
    return [(0.1 * i, 0.01 * i * i, -0.2 if i % 2 else 0.3) for i in range(n)]


def bcc(curves, kind=b"PL", up=1):
    total = sum(abs(n) for n in curves)
    out = b"BCC\x44" + kind + struct.pack("<bbQQ40s", 3, up, len(curves), total, b"corpus")
    for n in curves:
        out += struct.pack("<i", n) + b"".join(struct.pack("<3f", *p) for p in points(abs(n)))
    return out


def hair(segments, thickness=True, given=True, default=0.0):
    n = sum(s + 1 for s in segments)
    bits = (1 if given else 0) | 2 | (4 if thickness else 0) | 8 | 16
    out = b"HAIR" + struct.pack("<IIIIff3f88s", len(segments), n, bits, segments[0], default, 0, 1, 1, 1, b"corpus")
    if given:
        out += struct.pack("<%dH" % len(segments), *segments)
    out += b"".join(struct.pack("<3f", *p) for p in points(n))
    if thickness:
        out += struct.pack("<%df" % n, *[0.01 * i for i in range(n)])
    return out + struct.pack("<%df" % n, *[0.5] * n) + struct.pack("<%df" % (3 * n), *[0.25] * (3 * n))


def main():
    put("lines.bcc", bcc([3, -4, 0, 1]))
    put("splines.bcc", bcc([5, -4, 2, 1, -2, -1], b"C0", 2))
    put("cut.bcc", bcc([3, -4])[:-5])
    put("lying.bcc", bcc([3]) [:8] + struct.pack("<QQ", 2**60, 2**61) + bcc([3])[24:])
    put("negative.bcc", bcc([3])[:64] + struct.pack("<i", -2**31) + bcc([3])[68:])

    put("strands.hair", hair([2, 3, 0]))
    put("even.hair", hair([2, 2], thickness=False, given=False, default=0.02))
    put("cut.hair", hair([2, 3])[:-1])
    put("lying.hair", hair([2])[:4] + struct.pack("<II", 2**32 - 1, 2**32 - 1) + hair([2])[12:])

    put("lines.obj", "# edges\no yarn\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 2 2 1\nl 1 2\nl 2 3\nl 4 3\ng loop\nl -5 -4 -3 -5\nl 3/1 5/2\nf 1 2 3\n")
    put("star.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nl 1 2\nl 1 3\nl 1 \\\n 4\nl 2 2\nl 3\n")
    put("points.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\ng a\np 1 2\np -1\ng b\nl 1 2\nl 2 3\ng c\nl 2 1\n")
    put("missing.obj", "v 0 0 0\nl 1 2\n")

    put("edges.poly", "POINTS\n1: 0 0 0\n2: 1 0 0\n3: 1 1 0\nPOLYS\n1: 1 2\n2: 2 3\n3: 3 1\nEND\n")
    put("curves.poly", "POINTS\n5: 0 0 0\n7: 1 0 0\n9: 1 1 0 # corner\n\nPOLYS\n4: 5 7 9 <\n8: 5 9 7\n9: 7\n10:\nEND\n")
    put("cut.poly", "POINTS\n1: 0 0 0\n2: 1 0")

    put("linear.usda", '#usda 1.0\n(\n    upAxis = "Z"\n    metersPerUnit = 1\n    customLayerData = { string a = "b" int[] c = [1, 2] }\n)\n'
        'def Xform "a" (kind = "group")\n{\n    double3 xformOp:translate = (1, 2, 3)\n    float xformOp:rotateX.timeSamples = { 0: 0, 1: 90, }\n'
        '    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateX"]\n    def BasisCurves "yarn"\n    {\n'
        '        uniform token type = "linear"\n        int[] curveVertexCounts = [2, 3]\n'
        '        point3f[] points.timeSamples = { 0: [(0,0,0),(1,0,0),(0,1,0),(0,2,0),(0,3,1e-3)], 1: [(0,0,1),(1,0,1),(0,1,1),(0,2,1),(0,3,1)] }\n'
        '        float[] widths = [0.1, 0.2] ( interpolation = "uniform" )\n        rel material:binding = </m>\n        asset x = @./a.png@\n    }\n}\n')
    put("cubic.usda", '#usda 1.0\n' + "".join(
        'def BasisCurves "c%d" { uniform token basis = "%s"\n uniform token wrap = "%s"\n int[] curveVertexCounts = [%d]\n point3f[] points = [%s]\n'
        ' float[] widths = [%s] (interpolation = "%s")\n string[] primvars:osier:name = ["n\\n%d"]\n int64[] primvars:osier:id = [%d]\n'
        ' matrix4d xformOp:transform = ((1,0,0,0),(0,1,0,0),(0,0,2,0),(1,1,1,1))\n quatf xformOp:orient = (1,0,0,0)\n'
        ' uniform token[] xformOpOrder = ["xformOp:transform","xformOp:orient","!invert!xformOp:transform"]\n}\n'
        % (i, basis, wrap, n, ",".join("(%g,%g,%g)" % p for p in points(n)), ",".join(["1"] * w), how, i, i)
        for i, (basis, wrap, n, how, w) in enumerate([("bezier", "nonperiodic", 7, "varying", 3), ("bspline", "periodic", 5, "vertex", 5),
                                                      ("catmullRom", "pinned", 2, "constant", 1), ("catmullRom", "nonperiodic", 4, "varying", 2)])))
    clip = 'over "R" { over "o" { point3f[] points.timeSamples = { %s } } }\n'
    put("clips.usda", '#####'.join([
        '#usda 1.0\n( subLayers = [@1@] metersPerUnit = 1 )\nover "R" ( clips = { dictionary default = { double2[] active = [(0, 0), (2.5, 1), (4, 0)]\n'
        ' asset[] assetPaths = [@./2@, @@@3@@@]\n asset manifestAssetPath = @4@\n string primPath = "/R"\n double2[] times = [(0, 0), (2, 2), (2, 0), (5, 4)]\n } } ) { }\n',
        '#usda 1.0\ndef Xform "R" { def BasisCurves "o" { uniform token type = "linear"\n int[] curveVertexCounts = [2]\n point3f[] points\n } }\n',
        '#usda 1.0\n' + clip % '0: [(0,0,0),(1,0,0)], 1: [(0,1,0),(1,1,0)]', '#usda 1.0\n' + clip % '3: [(0,3,0),(1,3,0)]',
        '#usda 1.0\nover "R" { over "o" { point3f[] points\n } }\n']))
    put("itself.usda", '#usda 1.0\n( subLayers = [@0@] )\ndef "R" ( clips = { dictionary default = { double2[] active = [(0, 0)]\n asset[] assetPaths = [@0@]\n string primPath = "/R/a"\n } } ) { '
        'def BasisCurves "o" { } def "a" { point3f[] points.timeSamples = { 0: [(0,0,0)] } } }\n')
    put("composed.usda", '#usda 1.0\n( subLayers = [@x.usda@] )\nclass "k" { def BasisCurves "x" {} }\ndef "y" ( prepend references = @z.usda@</a> ) { variantSet "v" = { "one" { } } }\n')
    put("cut.usda", '#usda 1.0\ndef BasisCurves "a" { point3f[] points = [(0, 0')

    head = "ply\nformat %s 1.0\ncomment corpus\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty uchar radius\n" \
           "element face 1\nproperty list uchar int vertex_indices\nelement edge 2\nproperty int vertex1\nproperty int vertex2\nend_header\n"
    put("edges.ply", head % "ascii" + "0 0 0 1\n1 0 0 2\n1 1 0 3\n3 0 1 2\n0 1\n1 2\n")
    binary = b"".join(struct.pack("<3fB", *p, 2) for p in points(3)) + struct.pack("<B3i", 3, 0, 1, 2) + struct.pack("<4i", 0, 1, 2, 1)
    put("binary.ply", (head % "binary_little_endian").encode() + binary)
    swapped = b"".join(struct.pack(">3fB", *p, 2) for p in points(3)) + struct.pack(">B3i", 3, 0, 1, 2) + struct.pack(">4i", 0, 1, 2, 1)
    put("swapped.ply", (head % "binary_big_endian").encode() + swapped)
    put("crossing.ply", "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\nelement edge 4\nproperty int vertex1\nproperty int vertex2\n"
        "property int curve\nend_header\n0 0 0\n1 0 0\n2 0 0\n1 1 0\n1 -1 0\n0 1 0\n1 2 0\n3 1 1\n1 4 1\n")
    put("cut.ply", (head % "binary_little_endian").encode() + binary[:-3])
    put("lying.ply", "ply\nformat binary_little_endian 1.0\nelement nothing 1000000000000000\nelement vertex 1000000000000000\nproperty double x\nproperty double y\nproperty double z\nend_header\n")

    put("plain.csv", "# points\n0 0 0\n1, 0,\t0\n\n+2;0;1e-3\n")
    put("table.csv", 'x [m],y,z,radius,curve,name,closed\n0,0,0,0.1,3,"a, ""b""",1\n1,0,0,0.1,3,"a, ""b""",1\n1,1,0,0.1,3,"a, ""b""",1\n5,5,5,0.2,7,c,0\n')
    put("moving.csv", "time;x;y;z;width\n0;0;0;0;1\n0;1;0;0;1\n1;0;0;1;1\n1;1;0;1;2\n")
    put("words.csv", "0 0 0 0.1 wool\n1 0 0 0.1 wool\n0 1 0 0.1 silk\n")
    put("ragged.csv", "x,y,z\n1,2\n")


main()
