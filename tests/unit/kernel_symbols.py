"""What objects compiled for a wide instruction set offer to the linker.

usage: kernel_symbols.py avx2|avx512 OBJECT...

A weak symbol that other objects have too could be linked in place of theirs, and then crash a machine without these instructions.
So every weak one must be of this set's own: named after its number of lanes, or after the set.
"""

import re
import subprocess
import sys

OWN = {"avx2": r"Pack(Mask)?<float, 8>|Pack(Mask)?<double, 4>|\(osier::Simd\)3",
       "avx512": r"Pack(Mask)?<float, 16>|Pack(Mask)?<double, 8>|\(osier::Simd\)4"}


def foreign(simd, listing):
    """Names in what `nm -C` says of weak or unique definitions that do not tell whose they are. DW.ref.* is a pointer, no code."""
    weak = re.compile(r"^[0-9a-f]+ [WVu] (?!DW\.ref\.)(.*)$", re.M)
    return [name for name in weak.findall(listing) if not re.search(OWN[simd], name)]


example = """0000000000000000 W osier::Sweep<osier::Pack<double, 8> >::step()
0000000000000000 T osier::plain()
0000000000000000 W std::vector<int, std::allocator<int> >::~vector()
                 U memcpy
0000000000000000 W osier::kernels_for<float, (osier::Simd)4>()
"""
if foreign("avx512", example) != ["std::vector<int, std::allocator<int> >::~vector()"] or len(foreign("avx2", example)) != 3:
    sys.exit("the test itself is wrong")

simd, objects = sys.argv[1], sys.argv[2:]
listing = subprocess.run(["nm", "-C", "--defined-only", *objects], check=True, capture_output=True, text=True).stdout
if not re.search(OWN[simd], listing):
    sys.exit(f"there is not one kernel of {simd} in {objects}")
bad = foreign(simd, listing)
print("\n".join(bad) or f"{len(objects)} objects bring nothing that others could have")
sys.exit(1 if bad else 0)
