import assert from "node:assert/strict";
import { test } from "node:test";
import { categoryColor, colorTable, PALETTE, usualColor } from "../../src/colors";
import { nearestTo } from "../../src/playback";
import { plotsOf } from "../../src/probes";
import { decodePacket, readModel } from "../../src/protocol";
// @ts-expect-error written in plain JavaScript, apart from the page's codec
import { MockRods } from "../packets.mjs";

const rods = new MockRods({ rods: 3, segments: 4 });

test("columns of probes become one graph for each quantity of each probe", () => {
  const plots = plotsOf(["tip.x", "tip.y", "tip.z", "tip.vx", "tip.vy", "tip.vz", "a.b.fx", "a.b.tension", "a.b.n1", "a.b.mx", "a.b.m1", "a.b.angle", "a.b.odd"]);
  assert.deepEqual(plots.map((p) => [p.probe, p.quantity.title, p.quantity.unit, p.names.join(" "), p.places.join(" ")]), [
    ["tip", "position", "m", "x y z", "0 1 2"], ["tip", "velocity", "m/s", "vx vy vz", "3 4 5"], ["a.b", "force", "N", "fx tension", "6 7"],
    ["a.b", "section force", "N", "n1", "8"], ["a.b", "moment", "N·m", "mx", "9"], ["a.b", "section moment", "N·m", "m1", "10"], ["a.b", "angle", "rad", "angle", "11"],
    ["a.b", "value", "", "odd", "12"],
  ]);
});

test("a model without what newer programs tell is read all the same, and one with it keeps it", () => {
  const old = readModel(decodePacket(rods.model()));
  assert.deepEqual([old.families, [...old.rodFamily], old.materialColors, old.probes, old.ground], [[], [], [], null, null]);
  const model = readModel(decodePacket(rods.model({
    times: [0, 1], families: ["hair", "cap"], material_colors: ["#A01010", "red", null], ground: "none", probe_columns: ["p.x", "p.y"],
    more: [["rod_family", "u32", [0, 0, 1]], ["probe_times", "f64", [0, 0.5, 1]], ["probe_values", "f32", [1, 2, 3, 4, 5, 6]]],
  })));
  assert.deepEqual(model.materialColors, ["#A01010", null, null]);
  assert.equal(model.ground, "none");
  assert.deepEqual(model.probes!.values.map((list) => [...list]), [[1, 2, 3], [4, 5, 6]]);
  assert.throws(() => readModel(decodePacket(rods.model({ times: [0], probe_columns: ["p.x"], more: [["probe_times", "f64", [0, 1]], ["probe_values", "f32", [1]]] }))), /probe_values/);
});

test("colours are the scene's where it gives them, and rods are told apart while the palette lasts", () => {
  assert.equal(categoryColor(1, [null, "#010203"]), "#010203");
  assert.equal(categoryColor(0, [null, "#010203"]), PALETTE[0]);
  assert.deepEqual([...colorTable("material", 4, [null, "#010203"]).subarray(4, 8)], [1, 2, 3, 255]);
  assert.notDeepEqual([...colorTable("rod", 4, [null, "#010203"]).subarray(4, 8)], [1, 2, 3, 255]);
  const model = { materialColors: [null] as (string | null)[], families: ["hair"], rodNames: ["a", "b"] };
  assert.equal(usualColor([model]), "rod");
  assert.equal(usualColor([{ ...model, rodNames: Array.from({ length: 500 }, (_, i) => `hair${i}`) }]), "family");
  assert.equal(usualColor([{ ...model, materialColors: [null, "#112233"] }]), "material");
});

test("the entry nearest to a time is found, though times were rounded", () => {
  const times = [0, 0.0333333333, 0.0666666667, 0.1];
  assert.deepEqual([1 / 30, 2 / 30, 0.1, 7, -1].map((t) => nearestTo(times, t)), [1, 2, 3, 3, 0]);
});
