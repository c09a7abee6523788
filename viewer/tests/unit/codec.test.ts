import assert from "node:assert/strict";
import { test } from "node:test";
import { DataError, decodePacket, encodePacket, readFrame, readModel, undelta } from "../../src/protocol";
import { readTracks, splitPackets } from "../../src/recording";
// @ts-expect-error written in plain JavaScript, apart from the page's codec
import { MockRods, packet, recording } from "../packets.mjs";
import { gunzipSync } from "node:zlib";

const rods = new MockRods({ rods: 2, segments: 5 });

test("a packet comes back as it was written, in every number type", () => {
  const arrays = [
    { name: "a", type: "f32" as const, data: [1.5, -2] }, { name: "b", type: "u8" as const, data: [1, 2, 255] }, { name: "c", type: "f64" as const, data: [Math.PI] },
    { name: "d", type: "i16" as const, data: [-32768, 32767, 0] }, { name: "e", type: "u16" as const, data: [65535] }, { name: "f", type: "u32" as const, data: [4294967295] }, { name: "g", type: "i32" as const, data: [] },
  ];
  const { header, arrays: read } = decodePacket(encodePacket({ type: "test", name: "Übung ⟂" }, arrays));
  assert.equal(header["name"], "Übung ⟂");
  for (const { name, data } of arrays) assert.deepEqual([...read.get(name)!], data);
});

test("the page's writer and the independent one give the same bytes", () => {
  const bytes = encodePacket({ type: "x" }, [{ name: "p", type: "f32", data: [1, 2, 3] }, { name: "q", type: "u8", data: [7] }]);
  assert.deepEqual(Buffer.from(bytes), packet({ type: "x" }, [["p", "f32", [1, 2, 3]], ["q", "u8", [7]]]));
});

test("a packet at an odd address is read all the same", () => {
  const inner: Buffer = rods.frame(3, 0.5, -0.2);
  const shifted = new Uint8Array(inner.length + 1);
  shifted.set(inner, 1);
  assert.equal(decodePacket(shifted.subarray(1)).header["index"], 3);
});

test("every truncation of a packet is an error, never a crash or a silent half", () => {
  const bytes = new Uint8Array(rods.frame(0, 0, 0));
  for (let n = 0; n < bytes.length; n += 7) assert.throws(() => decodePacket(bytes.subarray(0, n)), DataError, `cut to ${n} bytes`);
});

test("lying headers are refused with what is wrong", () => {
  const bad = (arrays: unknown): Uint8Array => {
    const json = JSON.stringify({ arrays }).padEnd(64);
    const out = Buffer.concat([Buffer.from([0x4f, 0x53, 0x49, 0x52, 64, 0, 0, 0]), Buffer.from(json)]);
    return new Uint8Array(out);
  };
  assert.throws(() => decodePacket(bad([{ name: "p", type: "f32", count: 1e15 }])), /ends inside array p/);
  assert.throws(() => decodePacket(bad([{ name: "p", type: "f99", count: 1 }])), /bad array entry/);
  assert.throws(() => decodePacket(bad([{ name: "p", type: "f32", count: -1 }])), /bad array entry/);
  assert.throws(() => decodePacket(bad("all")), /not a list/);
  assert.throws(() => decodePacket(new Uint8Array(100)), /OSIR/);
});

test("a model that names vertices it does not have is refused", () => {
  const bytes = packet({ type: "model" }, [["segments", "u32", [0, 9]], ["radius", "f32", [1, 1]], ["rest_length", "f32", [1]], ["segment_rod", "u32", [0]]]);
  assert.throws(() => readModel(decodePacket(bytes)), /segment end 1 names 9, there are 2/);
});

test("a frame of another size than its model is refused", () => {
  const model = readModel(decodePacket(rods.model()));
  const other = new MockRods({ rods: 1, segments: 5 });
  assert.throws(() => readFrame(decodePacket(other.frame(0, 0, 0)), model), /18 numbers, 36 are expected/);
});

test("contacts come with their forces, and must be as many of each", () => {
  const model = readModel(decodePacket(rods.model()));
  const frame = decodePacket(rods.frame(0, 0, 0));
  assert.equal(readFrame(frame, model).contacts, null);
  frame.arrays.set("contact_segments", Int32Array.from([3, -1]));
  frame.arrays.set("contact_position", Float32Array.from([1, 2, 3]));
  frame.arrays.set("contact_normal_force", Float32Array.from([4, 5, 6]));
  assert.throws(() => readFrame(frame, model), /contact_friction_force is missing/);
  frame.arrays.set("contact_friction_force", Float32Array.from([7, 8]));
  assert.throws(() => readFrame(frame, model), /contact_friction_force has 2 numbers, 3 are expected/);
  frame.arrays.set("contact_friction_force", Float32Array.from([7, 8, 9]));
  const contacts = readFrame(frame, model).contacts!;
  assert.deepEqual([...contacts.segments], [3, -1]);
  assert.deepEqual([...contacts.normalForce, ...contacts.frictionForce], [4, 5, 6, 7, 8, 9]);
});

test("differences add up to the frame, also across the wrap at 65536", () => {
  const first = decodePacket(packet({ type: "frame" }, [["position", "u16", [65530, 3, 100]], ["frame", "i16", [32767, -32768, 0, 5]]]));
  const before = undelta(first, null);
  const second = decodePacket(packet({ type: "frame", delta: true }, [["position", "u16", [10, 65533, 0]], ["frame", "i16", [2, -1, 7, -5]]]));
  const now = undelta(second, before)!;
  assert.deepEqual([...now.position], [4, 0, 100]);
  assert.deepEqual([...now.quaternion!], [-32767, 32767, 7, 0]);
  assert.throws(() => undelta(decodePacket(packet({ delta: true }, [["position", "u16", [1]]])), null), /follows nothing/);
});

test("a recording gives back every frame within half a quantum", () => {
  const tip = (i: number): number => -0.05 * i;
  const tracks = readTracks(splitPackets(new Uint8Array(gunzipSync(Buffer.from(recording([rods], 8, tip), "base64")))));
  assert.equal(tracks.length, 1);
  assert.equal(tracks[0]!.times.length, 8);
  // Out of order, as a user scrubs.
  for (const i of [7, 0, 3, 4, 2]) {
    const want: Float32Array = rods.positions(tip(i));
    const got = tracks[0]!.frame(i, 0).position;
    for (let k = 0; k < want.length; ++k) assert.ok(Math.abs(got[k]! - want[k]!) < 0.51 * (4 / 65535) + 1e-6, `frame ${i}, number ${k}`);
  }
});

test("a recording cut anywhere is refused", () => {
  const whole = new Uint8Array(gunzipSync(Buffer.from(recording([rods], 3, () => 0), "base64")));
  for (let n = 1; n < whole.length; n += 101) {
    // A cut between two packets leaves a shorter recording; without any frame it is an error as well.
    let frames = -1;
    try {
      frames = readTracks(splitPackets(whole.subarray(0, n)))[0]!.times.length;
    } catch (error) {
      assert.ok(error instanceof DataError, String(error));
    }
    assert.ok(frames < 3);
  }
});
