"""The scene language as classes. Written by python/generate_scene.py from the JSON Schema; do not edit.

A class is an object of the language, and its fields are the keys. None means that a key is left out. Values may be numpy arrays;
what is a quantity over time takes a number or {"keys": [[time, value], ...]}. Nothing is checked before a scene is compiled,
`Scene.check()`: then every problem is told at once, with the words and places of the command line.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Mapping, Sequence, Union

import numpy as np

from ._part import Part, Root

Number = Union[float, int]
Vector = Union[Sequence[float], np.ndarray]
Selection = Union[int, str, Mapping[str, Any], Sequence[Any]]
Track = Union[Number, Vector, Mapping[str, Any]]


@dataclass(kw_only=True)
class Scene(Root):
    """The root object.

    name: Name; the file's name when left out
    description: What the scene shows
    materials: Materials by name
    rods: Rods along curves
    structures: Generated graphs
    welds: Vertices that become one
    joints: Extra joints
    point_masses: Masses fastened to rods
    constraints: What is held or driven
    forces: Loads; without any, not even gravity acts
    fracture: Breaking
    obstacles: What rods collide with other than rods; needs `contact`
    contact: Contact of rods with each other and with themselves; none when left out
    rotational_inertia: Whether segments resist turning as their sections do, rho I1, rho I2 and rho (I1 + I2) per length;
        without, frames follow at once as in the paper. Needs a section and a density or line density everywhere
    solver: Solver and its settings; `automatic`, which chooses, when left out
    execution: How it is computed: threads, instructions, number type
    analysis: Dynamics (default) or statics
    probes: Measured points
    output: What to write
    view: How it is shown
    """

    _parts: ClassVar = {'materials': ('map', ('Material',)), 'rods': ('list', ('Rod',)), 'structures': ('list', ('StructureSlingshot', 'StructureBridge', 'StructureTrees', 'StructureNet', 'StructureKnit', 'StructureWeave', 'StructureBraid', 'StructureHair', 'StructureGrass', 'StructureCurves')), 'welds': ('list', ('Weld',)), 'joints': ('list', ('Joint',)), 'point_masses': ('list', ('PointMass',)), 'constraints': ('list', ('Pin', 'Fix', 'Clamp', 'Motor', 'Hinge', 'Roller', 'Slider', 'Symmetry', 'Planar', 'Spring', 'Foundation')), 'forces': ('list', ('Gravity', 'Drag', 'Wind', 'Force', 'Torque')), 'fracture': ('', ('Fracture',)), 'obstacles': ('list', ('ObstaclePlane', 'Sphere', 'Capsule', 'Box', 'Cylinder', 'Tube', 'Mesh')), 'contact': ('', ('Contact',)), 'solver': ('', ('Automatic', 'Direct', 'StableCosserat', 'Newton', 'Projective', 'Deti', 'GeneralizedAlpha')), 'execution': ('', ('Execution',)), 'analysis': ('', ('Dynamic', 'Static')), 'probes': ('list', ('Probe',)), 'output': ('', ('Output',)), 'view': ('', ('View',))}
    name: str | None = None
    description: str | None = None
    materials: Mapping[str, Material | Mapping[str, Any]] | None = None
    rods: Sequence[Rod | Mapping[str, Any]] | None = None
    structures: Sequence[StructureSlingshot | StructureBridge | StructureTrees | StructureNet | StructureKnit | StructureWeave | StructureBraid | StructureHair | StructureGrass | StructureCurves | Mapping[str, Any]] | None = None
    welds: Sequence[Weld | Mapping[str, Any]] | None = None
    joints: Sequence[Joint | Mapping[str, Any]] | None = None
    point_masses: Sequence[PointMass | Mapping[str, Any]] | None = None
    constraints: Sequence[Pin | Fix | Clamp | Motor | Hinge | Roller | Slider | Symmetry | Planar | Spring | Foundation | Mapping[str, Any]] | None = None
    forces: Sequence[Gravity | Drag | Wind | Force | Torque | Mapping[str, Any]] | None = None
    fracture: Fracture | Mapping[str, Any] | None = None
    obstacles: Sequence[ObstaclePlane | Sphere | Capsule | Box | Cylinder | Tube | Mesh | Mapping[str, Any]] | None = None
    contact: Contact | Mapping[str, Any] | None = None
    rotational_inertia: bool | None = None
    solver: Automatic | Direct | StableCosserat | Newton | Projective | Deti | GeneralizedAlpha | Mapping[str, Any] | None = None
    execution: Execution | Mapping[str, Any] | None = None
    analysis: Dynamic | Static | Mapping[str, Any] | None = None
    probes: Sequence[Probe | Mapping[str, Any]] | None = None
    output: Output | Mapping[str, Any] | None = None
    view: View | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Material(Part):
    """What a rod is made of and how thick it is. In SI: `young`, `poisson` or `shear_modulus`, `density` and a section
    (`radius`, or `section`) give EA, GA1, GA2, EI1, EI2, GJ and the line density. Raw stiffnesses win over these, key by key;
    a single one (`bend`) over a combined one (`bend_twist`). A round section with neither `poisson` nor `shear_modulus`
    follows the isotropic law of Stable Cosserat Rods, GJ = EI and GA = EA. See docs/materials.md.

    preset: Moduli and density by name, see `osier list materials`; other keys win over it one by one, and `poisson` over its
        shear modulus One of hair, steel_wire, nylon, rubber, wood, cotton_yarn.
    young: Young's modulus E [Pa]
    poisson: Poisson ratio: G = E/(2 (1 + poisson)), GA = k G A with Cowper's k, GJ = G J
    shear_modulus: Shear modulus G, instead of `poisson` [Pa]
    density: Mass density; times the section's area it is the line density [kg/m^3]
    radius: Radius of a round section, short for a `section` of type circle [m]
    section: Cross-section; its axes d1 and d2 are placed by the rod's `up` and `frame`
    stretch_shear: Stretching and both shearing stiffnesses, EA = GA: the paper's k^ss per length [N]
    stretch: Stretching stiffness EA [N]
    shear: Shearing stiffness GA, or [along d1, along d2] [N]
    bend_twist: Both bending and the twisting stiffness, EI = GJ: the paper's k^bt per length; 0 makes a cable without joints
        [N·m²]
    bend: Bending stiffness EI, or [about d1, about d2] [N·m²]
    twist: Twisting stiffness GJ [N·m²]
    line_density: Mass per length [kg/m]
    tau_stretch: Kelvin–Voigt time of stretching [s]
    tau_shear: Kelvin–Voigt time of shearing; `tau_stretch` when left out [s]
    tau_bend: Kelvin–Voigt time of bending [s]
    tau_twist: Kelvin–Voigt time of twisting; `tau_bend` when left out [s]
    strain_limit: A segment breaks when |C^ss| reaches this strain
    curvature_limit: A joint breaks when its bend away from rest, per length, reaches this [1/m]
    twist_limit: A joint breaks when its twist away from rest, per length, reaches this [rad/m]
    friction: Coefficient of friction; that of `contact` when left out
    young_over_time: Factor on Young's modulus, and so on EA and EI, over time: the stiffness of every step is that of its end
    shear_over_time: Likewise on the shear modulus, and so on GA and GJ
    color: Colour in pictures, in the viewer and in files that hold colours; the program chooses when left out
    """

    _parts: ClassVar = {'section': ('', ('SectionCircle', 'SectionTube', 'SectionEllipse', 'SectionRectangle'))}
    preset: Literal['hair', 'steel_wire', 'nylon', 'rubber', 'wood', 'cotton_yarn'] | None = None
    young: Number | None = None
    poisson: Number | None = None
    shear_modulus: Number | None = None
    density: Number | None = None
    radius: Number | None = None
    section: SectionCircle | SectionTube | SectionEllipse | SectionRectangle | Mapping[str, Any] | None = None
    stretch_shear: Number | None = None
    stretch: Number | None = None
    shear: Number | Vector | None = None
    bend_twist: Number | None = None
    bend: Number | Vector | None = None
    twist: Number | None = None
    line_density: Number | None = None
    tau_stretch: Number | None = None
    tau_shear: Number | None = None
    tau_bend: Number | None = None
    tau_twist: Number | None = None
    strain_limit: Number | None = None
    curvature_limit: Number | None = None
    twist_limit: Number | None = None
    friction: Number | None = None
    young_over_time: Track | None = None
    shear_over_time: Track | None = None
    color: str | None = None

@dataclass(kw_only=True)
class SectionCircle(Part):
    """A solid round section.

    radius: Radius [m]
    """

    _tag: ClassVar = ('type', 'circle')
    radius: Number

@dataclass(kw_only=True)
class SectionTube(Part):
    """A hollow round section.

    radius: Outer radius [m]
    inner_radius: Inner radius [m]
    """

    _tag: ClassVar = ('type', 'tube')
    radius: Number
    inner_radius: Number

@dataclass(kw_only=True)
class SectionEllipse(Part):
    """A solid elliptic section.

    radius_1: Semi-axis along d1 [m]
    radius_2: Semi-axis along d2 [m]
    """

    _tag: ClassVar = ('type', 'ellipse')
    radius_1: Number
    radius_2: Number

@dataclass(kw_only=True)
class SectionRectangle(Part):
    """A solid rectangular section.

    width: Side along d1 [m]
    height: Side along d2 [m]
    """

    _tag: ClassVar = ('type', 'rectangle')
    width: Number
    height: Number

@dataclass(kw_only=True)
class Rod(Part):
    """One rod along a curve.

    shape: Rest shape
    material: Material
    name: Name for selections; `rod0`, `rod1`, … when left out
    pose: Initial shape, where it differs from the rest shape; sampled like the rod
    segments: Number of segments, of equal length
    segment_length: Wanted segment length, instead of `segments` [m]
    segment_materials: Exceptions along the rod; later ones win
    taper: Linear size of the section, as a multiple of the material's, over the fraction of the rest length: EA, GA and line
        density go with its square, EI, GJ and rotational inertia with its fourth power; read at the middle of each segment
    up: Direction near which d1 of the first segment points, or of every segment with `frame` up
    frame: How the section's axes run along the rod: by parallel transport from the first segment, or everywhere with d1 as
        near `up` as the segment's direction allows One of transport, up.
    pose_twist: Turn of the frames about d3 in the initial state, beyond what the pose gives, over the fraction of the rest
        length; the rest shape is not changed [°]
    velocity: Initial velocity
    """

    _parts: ClassVar = {'shape': ('', ('ShapeLine', 'ShapeArc', 'ShapeCircle', 'ShapeHelix', 'ShapePoints', 'ShapePolyline', 'ShapeCoil', 'ShapeMode', 'ShapeKnot')), 'pose': ('', ('ShapeLine', 'ShapeArc', 'ShapeCircle', 'ShapeHelix', 'ShapePoints', 'ShapePolyline', 'ShapeCoil', 'ShapeMode', 'ShapeKnot')), 'material': ('', ('Material',)), 'segment_materials': ('list', ('SegmentMaterial',)), 'velocity': ('', ('Velocity',))}
    shape: ShapeLine | ShapeArc | ShapeCircle | ShapeHelix | ShapePoints | ShapePolyline | ShapeCoil | ShapeMode | ShapeKnot | Mapping[str, Any]
    material: str | Material | Mapping[str, Any]
    name: str | None = None
    pose: ShapeLine | ShapeArc | ShapeCircle | ShapeHelix | ShapePoints | ShapePolyline | ShapeCoil | ShapeMode | ShapeKnot | Mapping[str, Any] | None = None
    segments: int | None = None
    segment_length: Number | None = None
    segment_materials: Sequence[SegmentMaterial | Mapping[str, Any]] | None = None
    taper: Track | None = None
    up: Vector | None = None
    frame: Literal['transport', 'up'] | None = None
    pose_twist: Track | None = None
    velocity: Velocity | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class ShapeLine(Part):
    """A straight line.

    from_: First point [m]
    to: Last point [m]
    """

    _tag: ClassVar = ('type', 'line')
    from_: Vector
    to: Vector

@dataclass(kw_only=True)
class ShapeArc(Part):
    """A circular arc, counterclockwise about `normal` for a positive angle.

    radius: Radius [m]
    angle: Angle from the first to the last point; negative turns clockwise about `normal` [°]
    center: Centre of the circle [m]
    normal: Normal of the plane; need not be a unit vector
    start: Direction from the centre to the first point; its part along `normal` is dropped
    keep: What the sampled curve has in common with the true one: its `length` (and so the mass; it starts on the curve, and
        other vertices lie beside it by up to a share (k l)²/12 of the radius, k l being the turn of a segment), or `points`
        (vertices lie on the curve; the rod is shorter by a share (k l)²/24) One of length, points.
    """

    _tag: ClassVar = ('type', 'arc')
    radius: Number
    angle: Number
    center: Vector | None = None
    normal: Vector | None = None
    start: Vector | None = None
    keep: Literal['length', 'points'] | None = None

@dataclass(kw_only=True)
class ShapeCircle(Part):
    """A full circle, closed, counterclockwise about `normal`.

    radius: Radius [m]
    center: Centre [m]
    normal: Normal of the plane; need not be a unit vector
    start: Direction from the centre to the first vertex; its part along `normal` is dropped
    keep: What the sampled curve has in common with the true one: its `length` (and so the mass; vertices lie outside the
        curve by a share (k l)²/24 of the radius, k l being the turn of a segment), or `points` (vertices lie on the curve;
        the rod is shorter by that share) One of length, points.
    """

    _tag: ClassVar = ('type', 'circle')
    radius: Number
    center: Vector | None = None
    normal: Vector | None = None
    start: Vector | None = None
    keep: Literal['length', 'points'] | None = None

@dataclass(kw_only=True)
class ShapeHelix(Part):
    """A helix that turns counterclockwise about `axis`: right-handed for a positive pitch, left-handed for a negative one.

    radius: Radius [m]
    pitch: Advance along `axis` per turn; negative for a left-handed helix, which runs against `axis` [m]
    turns: Number of turns, whole or not
    center: Point of the axis beside the first point of the curve [m]
    axis: Direction of the axis; need not be a unit vector
    start: Direction from the axis to the first point; its part along `axis` is dropped
    keep: What the sampled curve has in common with the true one: its `length` (and so the mass; it starts on the curve, and
        other vertices lie beside it by up to a share (k l)²/12 of the radius, k l being the turn of a segment), or `points`
        (vertices lie on the curve; the rod is shorter by a share (k l)²/24) One of length, points.
    """

    _tag: ClassVar = ('type', 'helix')
    radius: Number
    pitch: Number
    turns: Number
    center: Vector | None = None
    axis: Vector | None = None
    start: Vector | None = None
    keep: Literal['length', 'points'] | None = None

@dataclass(kw_only=True)
class ShapePoints(Part):
    """Straight lines between points. Without resampling each point is a vertex.

    points: The points in order along the curve; a closed curve does not repeat its first point [m]
    closed: Whether the last point joins the first
    """

    _tag: ClassVar = ('type', 'points')
    points: Sequence[Any] | np.ndarray
    closed: bool | None = None

@dataclass(kw_only=True)
class ShapePolyline(Part):
    """One curve of a file, by its extension: see docs/formats.md. A file with another extension is text: one point per line,
    `x y z` in metres, separated by blanks or commas; `#` starts a comment. Blank lines in text do not matter here unless
    `select` is given.

    file: The file; a relative name starts at the folder of the scene
    select: Which curves: names with `*` and `?`, numbers and ranges, as in `0-99,wool*`. Numbers are the file's ids where it
        has them, otherwise places counted from 0. All when empty
    up: Axis that is up in the file, turned to y; replaces what the file itself says (y when it says nothing) One of x, y, z.
    scale: Factor on coordinates and widths: metres per unit of the file
    transform: Three rows of four numbers, a matrix and a shift, applied to all points after `up` and `scale`; widths are
        multiplied by the cube root of its determinant
    frame: Of an animated file, which of its times, counted from 0; negative numbers count from the end. The first one when
        neither `frame` nor `time` is given
    time: Of an animated file, the time in the file's own unit; between two samples points move in straight lines
    cubic_samples: Straight pieces that each span of a cubic curve becomes
    closed: Whether the last point joins the first; what the file says when left out
    """

    _tag: ClassVar = ('type', 'polyline')
    file: str
    select: str | None = None
    up: Literal['x', 'y', 'z'] | None = None
    scale: Number | None = None
    transform: Sequence[Any] | np.ndarray | None = None
    frame: int | None = None
    time: Number | None = None
    cubic_samples: int | None = None
    closed: bool | None = None

@dataclass(kw_only=True)
class ShapeCoil(Part):
    """A closed outline wound into a spring along z: vertex i is outline point i mod n with y pointing up, raised in
    proportion to the outline length walked so far. The defaults are the slinky of the Stable Cosserat Rods paper.

    outline: The outline; `teapot` has 43 points and measures about 126 by 61 units One of teapot.
    vertices: Number of vertices
    scale: Size of one unit of the outline [m]
    rise: Rise along z per turn [m]
    """

    _tag: ClassVar = ('type', 'coil')
    outline: Literal['teapot'] | None = None
    vertices: int | None = None
    scale: Number | None = None
    rise: Number | None = None

@dataclass(kw_only=True)
class ShapeMode(Part):
    """A straight line displaced by a mode of vibration, for the initial pose of a straight rod: every vertex is displaced by
    `amplitude` times the mode shape at its place in the rod.

    from_: First point of the line; a clamped or fixed end [m]
    to: Last point of the line [m]
    amplitude: Displacement where the mode is largest; at the tip if that is free [m]
    kind: Across the line, or along it One of bending, axial.
    ends: How the ends are held: `clamped_free` (when left out), `pinned_pinned`, `clamped_clamped` or `free_free` for
        bending, `fixed_free` for axial One of clamped_free, pinned_pinned, clamped_clamped, free_free, fixed_free.
    number: Which mode, from the lowest
    direction: Direction of the displacement of bending; its part along the line is dropped
    keep: Of bending: `length` leaves the rod unstretched, so that its far end comes nearer by the square of the amplitude;
        `points` puts vertices at equal steps of the line, so that both ends stay where they are and the rod is stretched One
        of length, points.
    """

    _tag: ClassVar = ('type', 'mode')
    from_: Vector
    to: Vector
    amplitude: Number
    kind: Literal['bending', 'axial'] | None = None
    ends: Literal['clamped_free', 'pinned_pinned', 'clamped_clamped', 'free_free', 'fixed_free'] | None = None
    number: int | None = None
    direction: Vector | None = None
    keep: Literal['length', 'points'] | None = None

@dataclass(kw_only=True)
class ShapeKnot(Part):
    """A loosely tied knot: an overhand knot with two straight ends along `along`, or a closed trefoil or figure-eight knot.

    knot: Which one One of overhand, trefoil, figure_eight.
    center: Its middle [m]
    along: Direction of the ends; for closed knots an axis of the plane in which they lie. Need not be a unit vector
    up: The other axis of that plane; its part along `along` is dropped
    size: Width of the loop of an overhand knot, or diameter of a closed one [m]
    length: Length of an overhand knot with its ends, at least 9.2 times `size`; ten times when left out [m]
    """

    _tag: ClassVar = ('type', 'knot')
    knot: Literal['overhand', 'trefoil', 'figure_eight'] | None = None
    center: Vector | None = None
    along: Vector | None = None
    up: Vector | None = None
    size: Number | None = None
    length: Number | None = None

@dataclass(kw_only=True)
class SegmentMaterial(Part):
    """Another material for a stretch of a rod.

    material: Its material
    first: First segment; negative counts from the end
    last: Last segment, included; negative counts from the end
    """

    _parts: ClassVar = {'material': ('', ('Material',))}
    material: str | Material | Mapping[str, Any]
    first: int | None = None
    last: int | None = None

@dataclass(kw_only=True)
class Velocity(Part):
    """Initial velocity: linear + angular × (x − about).

    linear: Common velocity [m/s]
    angular: Angular velocity, with `rotational_inertia` of the sections too [rad/s]
    about: Centre of the rotation [m]
    """

    linear: Vector | None = None
    angular: Vector | None = None
    about: Vector | None = None

@dataclass(kw_only=True)
class StructureSlingshot(Part):
    """A wooden fork with four rubber bands, drawn and ready to shoot along +z. Pieces: `.handle`, `.fork_left` and
    `.fork_right` (as the shooter sees them), `.rubber0` to `.rubber3`; groups: `.grip` (the five drawn vertices; hold them,
    then let go) and `.base` (first vertex and segment of the handle).

    name: Prefix of the pieces' names; the type when empty
    wood_stretch_shear: Stretching and shearing stiffness of the wood [N]
    wood_bend_twist: Bending and twisting stiffness of the wood [N·m²]
    wood_density: Line density of the wood [kg/m]
    wood_radius: Radius of the wood [m]
    rubber_stretch_shear: Stretching and shearing stiffness of the rubber [N]
    rubber_bend_twist: Bending and twisting stiffness of the rubber and of its knots [N·m²]
    rubber_density: Line density of the rubber [kg/m]
    rubber_radius: Radius of the rubber [m]
    rubber_rest_scale: Rest length of the rubber over its assembled length; below 1 it is pre-stretched
    jitter: Largest displacement of the rubber's inner vertices along each axis [m]
    seed: Seed of the jitter
    draw: How far the middle of the rubber is pulled in the initial pose [m]
    tau: Kelvin–Voigt time of stretching and bending [s]
    color: Colour in pictures, in the viewer and in files that hold colours
    """

    _tag: ClassVar = ('type', 'slingshot')
    name: str | None = None
    wood_stretch_shear: Number | None = None
    wood_bend_twist: Number | None = None
    wood_density: Number | None = None
    wood_radius: Number | None = None
    rubber_stretch_shear: Number | None = None
    rubber_bend_twist: Number | None = None
    rubber_density: Number | None = None
    rubber_radius: Number | None = None
    rubber_rest_scale: Number | None = None
    jitter: Number | None = None
    seed: int | None = None
    draw: Vector | None = None
    tau: Number | None = None
    color: str | None = None

@dataclass(kw_only=True)
class StructureBridge(Part):
    """A deck of 72 m hung by 58 cables from an arch across its middle, after the Margaret Hunt Hill bridge. Pieces: `.deck`,
    `.arch`, `.side_deck0`, `.side_deck1`, `.cable0` to `.cable57`; groups: `.ties`, `.cables` and `.supports` (the eight
    vertices and two segments to hold).

    name: Prefix of the pieces' names; the type when empty
    deck_stretch_shear: Stretching and shearing stiffness of decks and ties [N]
    deck_bend_twist: Bending and twisting stiffness of the decks [N·m²]
    deck_density: Line density of decks and ties [kg/m]
    deck_radius: Radius of decks and ties [m]
    arch_stretch_shear: Stretching and shearing stiffness of the arch [N]
    arch_bend_twist: Bending and twisting stiffness of the arch [N·m²]
    arch_density: Line density of the arch [kg/m]
    arch_radius: Radius of the arch [m]
    tie_bend_twist: Bending and twisting stiffness of the ties and of their joints with the deck [N·m²]
    cable_stretch_shear: Stretching and shearing stiffness of the cables, which do not resist bending [N]
    cable_density: Line density of the cables [kg/m]
    cable_radius: Radius of the cables [m]
    cable_segment_length: Longest segment of a cable [m]
    strain_limit: A member breaks when its strain reaches this
    tau: Kelvin–Voigt time of stretching and bending [s]
    color: Colour in pictures, in the viewer and in files that hold colours
    """

    _tag: ClassVar = ('type', 'bridge')
    name: str | None = None
    deck_stretch_shear: Number | None = None
    deck_bend_twist: Number | None = None
    deck_density: Number | None = None
    deck_radius: Number | None = None
    arch_stretch_shear: Number | None = None
    arch_bend_twist: Number | None = None
    arch_density: Number | None = None
    arch_radius: Number | None = None
    tie_bend_twist: Number | None = None
    cable_stretch_shear: Number | None = None
    cable_density: Number | None = None
    cable_radius: Number | None = None
    cable_segment_length: Number | None = None
    strain_limit: Number | None = None
    tau: Number | None = None
    color: str | None = None

@dataclass(kw_only=True)
class StructureTrees(Part):
    """Trees grown by space colonisation: branches head for points of a crown, and thicken with the wood they carry. With m(v)
    the branch length that vertex v carries (its edges and its children's m), M the mean of m over a segment's two ends and D
    = M / `step`, a segment has `stretch_shear`·D, `line_density`·D and `radius`·D^0.4; a joint has `bend_twist`·(mean m of
    its four ends)^1.8. Pieces: one per tree, called like the structure with 0, 1, ... appended; group: `.roots` (root
    vertices and first segments, to hold).

    name: Prefix of the pieces' names; the type when empty
    count: Number of trees
    seed: Seed of crowns and places
    spread: The trees stand in a disc of this radius times the root of their number; a single one at the origin [m]
    crown_samples: Random points in the crown before thinning
    attractors: Points left after thinning, which the branches head for
    crown_center: Centre of the crown above the root [m]
    crown_width: Radius of the crown [m]
    crown_height_above: Height of the crown above its centre [m]
    crown_height_below: Height of the crown below its centre [m]
    trunk_segments: Segments of the bare trunk that growth starts from
    step: Length of a segment [m]
    reach: A crown point attracts branches that are at most this near [m]
    kill: A crown point is reached at this distance [m]
    lift: Pull upwards, relative to the pull of the crown point
    stretch_shear: Stretching and shearing stiffness of a segment with D = 1 [N]
    bend_twist: Bending and twisting stiffness of a joint that carries 1 m of branches [N·m²]
    line_density: Line density of a segment with D = 1 [kg/m]
    radius: Radius of a segment with D = 1 [m]
    tau: Kelvin–Voigt time of stretching and bending [s]
    color: Colour in pictures, in the viewer and in files that hold colours
    """

    _tag: ClassVar = ('type', 'trees')
    name: str | None = None
    count: int | None = None
    seed: int | None = None
    spread: Number | None = None
    crown_samples: int | None = None
    attractors: int | None = None
    crown_center: Vector | None = None
    crown_width: Number | None = None
    crown_height_above: Number | None = None
    crown_height_below: Number | None = None
    trunk_segments: int | None = None
    step: Number | None = None
    reach: Number | None = None
    kill: Number | None = None
    lift: Number | None = None
    stretch_shear: Number | None = None
    bend_twist: Number | None = None
    line_density: Number | None = None
    radius: Number | None = None
    tau: Number | None = None
    color: str | None = None

@dataclass(kw_only=True)
class StructureNet(Part):
    """Rods in two directions that share a vertex at every crossing. Pieces: `.row0`, ... run along `along`, `.column0`, ...
    along `across`; groups: `.border` and `.corners`.

    name: Prefix of the pieces' names; the type when empty
    nx: Cells along `along`
    ny: Cells along `across`
    segments_per_cell: Segments of a cell's side
    cell: Side of a cell [m]
    corner: Where the first row and the first column meet [m]
    along: Direction of the rows; need not be a unit vector
    across: Direction of the columns; need not be a unit vector, nor at a right angle with `along`
    knots: Whether crossing rods keep their angle; otherwise they turn freely about their common vertex
    stretch_shear: Stretching and shearing stiffness [N]
    bend_twist: Bending and twisting stiffness; 0 makes cables, without joints or knots [N·m²]
    line_density: Line density [kg/m]
    radius: Radius [m]
    tau: Kelvin–Voigt time of stretching and bending [s]
    color: Colour in pictures, in the viewer and in files that hold colours
    """

    _tag: ClassVar = ('type', 'net')
    name: str | None = None
    nx: int | None = None
    ny: int | None = None
    segments_per_cell: int | None = None
    cell: Number | None = None
    corner: Vector | None = None
    along: Vector | None = None
    across: Vector | None = None
    knots: bool | None = None
    stretch_shear: Number | None = None
    bend_twist: Number | None = None
    line_density: Number | None = None
    radius: Number | None = None
    tau: Number | None = None
    color: str | None = None

@dataclass(kw_only=True)
class StructureKnit(Part):
    """Plain stockinette, one yarn for each row of stitches: every loop passes behind the legs and over the head of the loop
    below it. The rest shape is the pattern as it is laid out. The yarn's radius may be up to a tenth of `wale` without its
    loops touching at the start. Needs `contact`, without which rows fall through each other. Pieces: `.row0`, ... from the
    bottom; groups: `.left` and `.right` (the first and the last segment of every row with its vertices, to hold).

    material: Yarn
    name: Prefix of the pieces' names; the type when empty
    rows: Rows of stitches
    stitches: Stitches of a row
    segments_per_stitch: Segments of one stitch
    wale: Width of a stitch [m]
    center: Middle of the patch [m]
    along: Direction of the rows; need not be a unit vector
    up: Direction from row to row; its part along `along` is dropped
    """

    _tag: ClassVar = ('type', 'knit')
    _parts: ClassVar = {'material': ('', ('Material',))}
    material: str | Material | Mapping[str, Any]
    name: str | None = None
    rows: int | None = None
    stitches: int | None = None
    segments_per_stitch: int | None = None
    wale: Number | None = None
    center: Vector | None = None
    along: Vector | None = None
    up: Vector | None = None

@dataclass(kw_only=True)
class StructureWeave(Part):
    """A plain weave: fibres of the warp run along `along` and those of the weft along `across`, and each goes over one and
    under the next. The rest shape is the pattern as it is laid out; every fibre ends half a spacing beyond its last crossing.
    Nothing holds fibres together but contact, or springs between the groups of crossings: `.warp_ties` and `.weft_ties` are
    the vertices where fibres cross, in the same order; `.warp_before`, `.warp_after`, `.weft_before` and `.weft_after` their
    neighbours. Pieces: `.warp0`, ... and `.weft0`, ...; groups beside those of crossings: `.border`, the ends of all fibres,
    and `.corners`, the crossings at the corners.

    warp_material: Of the warp
    weft_material: Of the weft
    name: Prefix of the pieces' names; the type when empty
    warp: Fibres of the warp
    weft: Fibres of the weft
    segments_per_crossing: Segments from one crossing to the next
    warp_spacing: Distance of neighbouring fibres of the warp [m]
    weft_spacing: Of the weft; that of the warp when left out [m]
    clearance: Distance of centrelines where fibres cross, over the sum of their radii; contact begins at 1.2. Warp and weft
        wave alike
    center: Middle of the patch [m]
    along: Direction of the warp; need not be a unit vector
    across: Direction of the weft; its part along `along` is dropped
    """

    _tag: ClassVar = ('type', 'weave')
    _parts: ClassVar = {'warp_material': ('', ('Material',)), 'weft_material': ('', ('Material',))}
    warp_material: str | Material | Mapping[str, Any]
    weft_material: str | Material | Mapping[str, Any]
    name: str | None = None
    warp: int | None = None
    weft: int | None = None
    segments_per_crossing: int | None = None
    warp_spacing: Number | None = None
    weft_spacing: Number | None = None
    clearance: Number | None = None
    center: Vector | None = None
    along: Vector | None = None
    across: Vector | None = None

@dataclass(kw_only=True)
class StructureBraid(Part):
    """Strands that cross over and under each other, side by side in a flat braid: strand k of n goes to and fro across the
    braid, width/2 sin a, while it goes up and down n - 1 times as often, thickness/2 sin (n - 1) a, with a = 2 pi (s/`period`
    + k/n). The rest shape is the pattern as it is laid out. Needs `contact`. Pieces: `.strand0`, ...; groups: `.start` and
    `.end` (the first and the last segment of every strand with its vertices, to hold).

    material: Strand
    name: Prefix of the pieces' names; the type when empty
    strands: Number of strands, odd
    periods: How often a strand goes to and fro
    segments_per_period: Segments of a period
    period: Length of a period along the braid [m]
    width: Width between centrelines [m]
    thickness: Thickness between centrelines [m]
    from_: Middle of the first end [m]
    along: Direction of the braid; need not be a unit vector
    across: Direction of its width; its part along `along` is dropped
    """

    _tag: ClassVar = ('type', 'braid')
    _parts: ClassVar = {'material': ('', ('Material',))}
    material: str | Material | Mapping[str, Any]
    name: str | None = None
    strands: int | None = None
    periods: Number | None = None
    segments_per_period: int | None = None
    period: Number | None = None
    width: Number | None = None
    thickness: Number | None = None
    from_: Vector | None = None
    along: Vector | None = None
    across: Vector | None = None

@dataclass(kw_only=True)
class StructureHair(Part):
    """Strands on the upper part of an ellipsoid, the head. Each is a helix that starts at its root and climbs away from the
    head, left- or right-handed, with its own phase, size and lean; roots are spread evenly. Density, radius and bending
    stiffness are those of human hair (1320 kg/m³, 40 µm, E = 3.5 GPa). Stretching is not: real hair has EA = 18 N, which at 1
    ms is 10⁵ times stiffer than what inertia can follow and never seen to stretch. 1 mN still keeps the stretch under its own
    weight near one per cent, and lets a few sweeps per millisecond converge. Pieces: one per strand, called like the
    structure with 0, 1, ... appended; group: `.roots` (root vertices and first segments, to hold).

    name: Prefix of the pieces' names; the type when empty
    strands: Number of strands
    vertices: Vertices of a strand
    seed: Seed of what differs between strands
    center: Centre of the head [m]
    head: Half axes of the head [m]
    crown: Direction from the centre to the middle of the scalp; need not be a unit vector
    scalp: Angle from `crown` down to which hair grows [°]
    length: Length of a strand, along its curls [m]
    length_variation: How much shorter or longer a strand may be, as a fraction
    curl_radius: Radius of the curls; 0 for straight hair [m]
    curl_pitch: Advance of a curl per turn [m]
    curl_variation: Variation of radius and pitch between strands, as a fraction
    lean: Largest angle between a strand's axis and the normal of the head [°]
    stretch_shear: Stretching and shearing stiffness [N]
    bend_twist: Bending and twisting stiffness [N·m²]
    line_density: Line density [kg/m]
    radius: Radius [m]
    tau: Kelvin–Voigt time of stretching and bending [s]
    color: Colour in pictures, in the viewer and in files that hold colours
    """

    _tag: ClassVar = ('type', 'hair')
    name: str | None = None
    strands: int | None = None
    vertices: int | None = None
    seed: int | None = None
    center: Vector | None = None
    head: Vector | None = None
    crown: Vector | None = None
    scalp: Number | None = None
    length: Number | None = None
    length_variation: Number | None = None
    curl_radius: Number | None = None
    curl_pitch: Number | None = None
    curl_variation: Number | None = None
    lean: Number | None = None
    stretch_shear: Number | None = None
    bend_twist: Number | None = None
    line_density: Number | None = None
    radius: Number | None = None
    tau: Number | None = None
    color: str | None = None

@dataclass(kw_only=True)
class StructureGrass(Part):
    """Blades on a rectangle in the plane y = const, evenly spread. A blade is an arc that leaves the ground with a random
    lean and bends over by up to `curve`; it tapers in proportion to its length from its full section at the root to `tip` of
    its linear size: EA and line density go with the square, EI with the fourth power. The defaults are a round blade of 0.8
    mm radius with E = 0.3 GPa and 700 kg/m³. Pieces: one per blade, called like the structure with 0, 1, ... appended; group:
    `.roots` (root vertices and first segments, to hold).

    name: Prefix of the pieces' names; the type when empty
    blades: Number of blades
    vertices: Vertices of a blade
    seed: Seed of what differs between blades
    center: Middle of the patch [m]
    width: Extent of the patch along x [m]
    depth: Extent of the patch along z [m]
    height: Length of a blade [m]
    height_variation: How much shorter or longer a blade may be, as a fraction
    lean: Largest angle between a blade's root and the vertical [°]
    curve: Largest angle between the directions of a blade's root and tip at rest [°]
    tip: Linear size of the section at the tip, as a multiple of that at the root
    stretch_shear: Stretching and shearing stiffness at the root [N]
    bend_twist: Bending and twisting stiffness at the root [N·m²]
    line_density: Line density at the root [kg/m]
    radius: Radius at the root [m]
    tau: Kelvin–Voigt time of stretching and bending [s]
    color: Colour in pictures, in the viewer and in files that hold colours
    """

    _tag: ClassVar = ('type', 'grass')
    name: str | None = None
    blades: int | None = None
    vertices: int | None = None
    seed: int | None = None
    center: Vector | None = None
    width: Number | None = None
    depth: Number | None = None
    height: Number | None = None
    height_variation: Number | None = None
    lean: Number | None = None
    curve: Number | None = None
    tip: Number | None = None
    stretch_shear: Number | None = None
    bend_twist: Number | None = None
    line_density: Number | None = None
    radius: Number | None = None
    tau: Number | None = None
    color: str | None = None

@dataclass(kw_only=True)
class StructureCurves(Part):
    """One rod for each curve of a file (docs/formats.md tells which files), after the edits `select`, `up`, `scale`,
    `split_closed`, `segment_length` or `segments`, `weld` and `move`, made in this order. Without resampling each point is a
    vertex. Curves that share a point, by `weld` or because the file says so, share a vertex. Pieces: `.` and the curve's
    name, with `_0`, `_1`, ... where several have the same; without names its id or its place in the file. Groups: `.starts`
    and `.ends`, first and last vertices and segments of open curves.

    file: The file; its extension tells the format, a relative name starts at the folder of the scene
    material: Material
    name: Prefix of the pieces' names; the type when empty
    frame: Of an animated file, which of its times, counted from 0; negative numbers count from the end. The first one when
        neither `frame` nor `time` is given
    time: Of an animated file, the time in the file's own unit; between two samples points move in straight lines
    cubic_samples: Straight pieces that each span of a cubic curve becomes
    select: Which curves: names with `*` and `?`, numbers and ranges, as in `0-99,wool*`. Numbers are the file's ids where it
        has them, otherwise places counted from 0. All when empty
    up: Axis that is up in the file, turned to y; replaces what the file itself says (y when it says nothing) One of x, y, z.
    scale: Factor on coordinates and widths: metres per unit of the file
    transform: Three rows of four numbers, a matrix and a shift, applied to all points after `up` and `scale`; widths are
        multiplied by the cube root of its determinant
    split_closed: Opens closed curves: each then starts and ends at its first point
    segment_length: Resamples each curve to equal segments, as near to this length as fits; welded points stay [m]
    segments: Resamples each curve to this number of equal segments, instead of `segment_length`
    weld: Joins ends of curves that are at most this far apart: they move to their middle and become one point. A curve whose
        own ends meet becomes closed; ends made by `split_closed` stay apart [m]
    move: Added to all points at the end [m]
    radius: Whose radius: the material's, or half the width that the file has at a segment's ends, on average. In the second
        case the section is scaled from the material's radius, like a rod's `taper` One of material, from_file.
    knots: Whether curves that share a vertex keep their angles there; otherwise they are hinged freely
    """

    _tag: ClassVar = ('type', 'curves')
    _parts: ClassVar = {'material': ('', ('Material',))}
    file: str
    material: str | Material | Mapping[str, Any]
    name: str | None = None
    frame: int | None = None
    time: Number | None = None
    cubic_samples: int | None = None
    select: str | None = None
    up: Literal['x', 'y', 'z'] | None = None
    scale: Number | None = None
    transform: Sequence[Any] | np.ndarray | None = None
    split_closed: bool | None = None
    segment_length: Number | None = None
    segments: int | None = None
    weld: Number | None = None
    move: Vector | None = None
    radius: Literal['material', 'from_file'] | None = None
    knots: bool | None = None

@dataclass(kw_only=True)
class Weld(Part):
    """Makes vertices of several rods one vertex. With `joint` the rods keep their rest angle there (every segment of one rod
    with every segment of another); without, they are hinged freely. With `close` or `within` two vertices become one during
    the run, like a plug in its socket, and the rods keep the angle that they have then; with `open` they part again.

    vertices: Two or more vertices at the same place
    joint: Whether the angle between the rods is kept
    bend_twist: Bending and twisting stiffness of these joints, when it differs from the rods' [N·m²]
    tolerance: Largest distance between the vertices [m]
    close: Time from which two vertices become one; from the start when only `within` is given [s]
    within: Distance at which they do; they are moved together then. A tenth of the shortest segment there when left out;
        while they are farther apart, a weld with `close` waits [m]
    open: Time at which they part [s]
    """

    vertices: Selection
    joint: bool | None = None
    bend_twist: Number | None = None
    tolerance: Number | None = None
    close: Number | None = None
    within: Number | None = None
    open: Number | None = None

@dataclass(kw_only=True)
class Joint(Part):
    """An extra joint between two segments, with the present angle as rest angle unless given.

    segments: The two segments
    bend_twist: Bending and twisting stiffness; the segments' own when left out [N·m²]
    rest_rotation: Rest rotation conj(q_a) q_b
    close: Time from which it holds, with the angle of that time as rest angle unless given [s]
    open: Time at which it lets go [s]
    """

    segments: Selection
    bend_twist: Number | None = None
    rest_rotation: Vector | None = None
    close: Number | None = None
    open: Number | None = None

@dataclass(kw_only=True)
class PointMass(Part):
    """Something heavy that is fastened to a rod: a mass on vertices, moments of inertia on segments, or both. Gravity acts on
    it; it has no extent.

    vertices: Where the mass is, all of it at each of them
    mass: Mass [kg]
    segments: Whose frames turn with the inertia
    inertia: Moments of inertia about d1, d2, d3; needs `rotational_inertia` [kg·m²]
    """

    vertices: Selection | None = None
    mass: Number | None = None
    segments: Selection | None = None
    inertia: Vector | None = None

@dataclass(kw_only=True)
class Pin(Part):
    """Holds vertices in place, or along some directions only; the rod may turn about them. What is held along one direction
    is a `roller` too.

    vertices: What to hold
    axes: The only directions along which to hold them, world axes, turned with `motion`; all of them when left out
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    motion: Keyframed motion
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'pin')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    vertices: Selection
    axes: str | Vector | Sequence[Any] | np.ndarray | None = None
    name: str | None = None
    motion: Motion | Mapping[str, Any] | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Motion(Part):
    """Prescribed motion of what a constraint holds, in all six degrees of freedom: turned on the spot by `orientation`, then
    turned by `rotate`, then shifted. Or as recorded in a file.

    translate: Shift from the initial place [m]
    rotate: Rotation
    orientation: Rotation of held frames from their initial orientation, world axes, each on its own spot; keys are joined by
        the shorter arc, so put them less than half a turn apart (half a turn is refused)
    file: Recorded motion, instead of the others
    with_: Name of an obstacle that carries all of this along, as if fastened to it
    """

    _parts: ClassVar = {'rotate': ('', ('Turn',)), 'file': ('', ('MotionFile',))}
    translate: Track | None = None
    rotate: Turn | Mapping[str, Any] | None = None
    orientation: Track | None = None
    file: str | MotionFile | Mapping[str, Any] | None = None
    with_: str | None = None

@dataclass(kw_only=True)
class Turn(Part):
    """Rotation about a fixed axis, by an angle or at a speed.

    axis: Direction of the axis
    center: A point on the axis [m]
    angle: Angle [deg]
    speed: Angular speed, instead of `angle`; the angle is its integral over time [rad/s]
    """

    axis: Vector | None = None
    center: Vector | None = None
    angle: Track | None = None
    speed: Track | None = None

@dataclass(kw_only=True)
class MotionFile(Part):
    """Recorded motion: a table (.csv) or a prim of a .usda file moves as one body, and what is held goes with it from where
    it is at the start; without `prim`, held vertices follow the points of the animated curves of a .usda file, each the one
    at its place. See docs/formats.md.

    file: A .csv table (time, x, y, z and, where it turns, the quaternion qx, qy, qz, qw) or a .usda file; a relative name
        starts at the folder of the scene
    prim: Of a .usda file, the prim whose space moves: its path, or its name. Without, curves are followed
    select: Which curves of a .usda file, as in `curves`; all when left out
    up: Axis that is up in the file, turned to y; replaces what the file itself says (y when it says nothing) One of x, y, z.
    scale: Factor on lengths: metres per unit of the file
    start: Time of the file, in seconds, at which the run begins [s]
    interpolation: Between samples: `cubic`, smooth, or `linear`, in straight lines One of cubic, linear.
    tolerance: Largest distance between a held vertex and the point of the curves that it follows [m]
    """

    file: str
    prim: str | None = None
    select: str | None = None
    up: Literal['x', 'y', 'z'] | None = None
    scale: Number | None = None
    start: Number | None = None
    interpolation: Literal['cubic', 'linear'] | None = None
    tolerance: Number | None = None

@dataclass(kw_only=True)
class Fix(Part):
    """Holds the frames of segments, as the paper does at its ends. The rod keeps the bending of half a segment to itself, so
    the error is of first order; prefer `clamp`.

    segments: Whose frames to hold
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    motion: Keyframed motion
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'fix')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    segments: Selection
    name: str | None = None
    motion: Motion | Mapping[str, Any] | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Clamp(Part):
    """Holds vertices together with the rod's frame at them (position, tangent, twist), by half-joints of length l/2 to the
    segments there: second-order accurate.

    vertices: Where to clamp
    tangent: Direction of the rod at the clamp; as in the initial pose when left out
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    motion: Keyframed motion
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'clamp')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    vertices: Selection
    tangent: Vector | None = None
    name: str | None = None
    motion: Motion | Mapping[str, Any] | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Motor(Part):
    """Drives a segment's frame about one axis, in a bearing that lets it turn about nothing else: at a given angular speed,
    or with the torque that a motor has at the speed it runs at. Positions are free; pin a vertex to hold them. Steps in which
    a given speed turns it by more than a quarter turn are divided. For a stiff shaft use `newton` or sweeps with a
    `tolerance`: a few sweeps do not carry a torque far.

    segment: The driven segment
    axis: Axis of the motor, world axes; the segment's initial d3 when left out
    speed: Angular speed [rad/s]
    torque_speed: Torque [N·m] over angular speed [rad/s]: one number, or keys [speed, torque], e.g. from stall torque to no-
        load speed; dynamics only [N·m]
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'motor')
    segment: Selection
    axis: Vector | None = None
    speed: Track | None = None
    torque_speed: Track | None = None
    name: str | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Hinge(Part):
    """Holds a vertex and lets one segment at it turn about one axis only.

    vertex: The held vertex
    segment: The hinged segment; the only one at the vertex when left out
    axis: Axis of the hinge, world axes
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    motion: Keyframed motion
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'hinge')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    vertex: Selection
    segment: Selection | None = None
    axis: Vector | None = None
    name: str | None = None
    motion: Motion | Mapping[str, Any] | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Roller(Part):
    """Holds vertices along one direction, from both sides, and lets them move across it and turn: the roller of a beam. A
    `pin` with `axes` holds two.

    vertices: What to hold
    normal: Direction in which it holds
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    motion: Keyframed motion
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'roller')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    vertices: Selection
    normal: Vector | None = None
    name: str | None = None
    motion: Motion | Mapping[str, Any] | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Slider(Part):
    """A clamp that is free to slide along one axis. With `turns` the rod may also turn about that axis, as a sleeve does;
    then a segment is held as by a `hinge`, which keeps the bending of half a segment out.

    vertices: What to hold; one vertex with `turns`
    axis: Axis along which it slides
    turns: Whether the rod may turn about the axis
    segment: With `turns`: the segment that turns; the only one at the vertex when left out
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    motion: Keyframed motion
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'slider')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    vertices: Selection
    axis: Vector | None = None
    turns: bool | None = None
    segment: Selection | None = None
    name: str | None = None
    motion: Motion | Mapping[str, Any] | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Symmetry(Part):
    """Ends of rods at a plane of symmetry, which they meet at a right angle: they stay in the plane, their tangent stays
    along its normal, and they may turn about it. Half of a symmetric scene then moves as the whole does.

    vertices: Ends of rods in the plane
    normal: Normal of the plane
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'symmetry')
    vertices: Selection
    normal: Vector | None = None
    name: str | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Planar(Part):
    """Motion in two dimensions: vertices move across the normal only, and segments between them turn about it only. Other
    constraints hold what they hold within the plane.

    vertices: What moves in the plane; everything when left out
    normal: Normal of the plane
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'planar')
    vertices: Selection | None = None
    normal: Vector | None = None
    name: str | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Spring(Part):
    """A spring, a damper or both, from vertices to another vertex, to a place that may move, or each to the place where it is
    at first. With a rest length they act along the line between the ends; with rest length 0 they are linear and act alike in
    all directions. The reaction is the force on `vertices`.

    vertices: Where it acts; with several, each has its own spring
    to: The vertex at the other end, or as many as `vertices` has, each for one in the same order
    anchor: Or the place of the other end; the initial place of each vertex when both are left out [m]
    stiffness: Spring constant [N/m]
    damping: Damper constant [N·s/m]
    rest_length: Length without force; the initial distance when left out [m]
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'spring')
    vertices: Selection
    to: Selection | None = None
    anchor: Track | None = None
    stiffness: Track | None = None
    damping: Track | None = None
    rest_length: Number | None = None
    name: str | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Foundation(Part):
    """An elastic support along rods (Winkler's): springs per length that hold every place where it is at first, in all
    directions or along one.

    segments: What it supports
    stiffness: Force per length and displacement [N/m²]
    damping: Force per length and velocity [N·s/m²]
    direction: The only direction in which it acts, world axes; all of them when left out
    name: Name for probes; its type and its place in the list, as in `clamp0`, when left out
    release: Time at which it lets go; in statics, the first load step that starts then or later [s]
    """

    _tag: ClassVar = ('type', 'foundation')
    segments: Selection
    stiffness: Track | None = None
    damping: Track | None = None
    direction: Vector | None = None
    name: str | None = None
    release: Number | None = None

@dataclass(kw_only=True)
class Gravity(Part):
    """The same acceleration for every vertex.

    acceleration: Acceleration [m/s²]
    """

    _tag: ClassVar = ('type', 'gravity')
    acceleration: Track | None = None

@dataclass(kw_only=True)
class Drag(Part):
    """Resistance to motion through still surroundings, −(rate·m + per_length·l)·v, taken at the new velocity so that any
    strength is stable.

    rate: Mass-proportional part, the paper's drag [1/s]
    per_length: Part proportional to the rest length around a vertex [N·s/m²]
    """

    _tag: ClassVar = ('type', 'drag')
    rate: Track | None = None
    per_length: Track | None = None

@dataclass(kw_only=True)
class Wind(Part):
    """Gusts, a travelling sum of three sines, or a `steady` wind, pushing segments that lie across it. How hard: by the
    paper's `coefficient`, or as air does, by `drag_coefficient`, `air_density` and `diameter`: ½ ρ C d l |v| v for a segment
    of length l, with v the wind's speed relative to the rod, across the segment.

    direction: Where the wind blows to
    speed: Speed U of the gusts and scale of the wind; the speed itself of a `steady` one [m/s]
    wavelength: Distance between gusts [m]
    coefficient: Strength c of the paper's push, c √m l |v| v [kg^½/m²]
    bias: Steadiness b: larger means weaker gusts
    steady: Whether the wind blows with `speed` everywhere, without gusts
    drag_coefficient: Drag coefficient C of the section in cross-flow, about 1.2 for a round one; instead of `coefficient`
    air_density: Density of the air, with `drag_coefficient` [kg/m^3]
    diameter: Width of the rod across the wind, with `drag_coefficient`; twice the section's radius when left out [m]
    """

    _tag: ClassVar = ('type', 'wind')
    direction: Vector | None = None
    speed: Track | None = None
    wavelength: Number | None = None
    coefficient: Number | None = None
    bias: Number | None = None
    steady: bool | None = None
    drag_coefficient: Number | None = None
    air_density: Number | None = None
    diameter: Number | None = None

@dataclass(kw_only=True)
class Force(Part):
    """A force of fixed direction on each selected vertex.

    vertices: Where it acts
    force: Force on each of them, world axes [N]
    """

    _tag: ClassVar = ('type', 'force')
    vertices: Selection
    force: Track

@dataclass(kw_only=True)
class Torque(Part):
    """A couple on each selected segment: dead (world axes) or following the segment's frame.

    segments: Where it acts
    torque: Couple on each of them [N·m]
    axes: `world`: dead load; `material`: follower, components along d1, d2, d3 One of world, material.
    """

    _tag: ClassVar = ('type', 'torque')
    segments: Selection
    torque: Track
    axes: Literal['world', 'material'] | None = None

@dataclass(kw_only=True)
class Fracture(Part):
    """Breaking of what has no limit of its own; tested after every time step. A segment that breaks leaves a gap. A joint
    that breaks leaves a hinge: the pieces stay together and bear no moment there.

    strain_limit: A segment breaks when |C^ss| reaches this strain
    curvature_limit: A joint breaks when its bend away from rest, per length, reaches this [1/m]
    twist_limit: A joint breaks when its twist away from rest, per length, reaches this [rad/m]
    """

    strain_limit: Number | None = None
    curvature_limit: Number | None = None
    twist_limit: Number | None = None

@dataclass(kw_only=True)
class ObstaclePlane(Part):
    """Everything behind an endless plane is solid: a floor, a wall, an incline.

    point: A point of the plane [m]
    normal: Direction away from the solid side, to where rods are
    size: Edge of the square that is drawn around `point` [m]
    name: Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out
    material: Material, for its friction
    friction: Coefficient of friction with every rod, instead of that of materials
    motion: Prescribed motion; `orientation` turns it about its own centre
    """

    _tag: ClassVar = ('type', 'plane')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    point: Vector | None = None
    normal: Vector | None = None
    size: Number | None = None
    name: str | None = None
    material: str | None = None
    friction: Number | None = None
    motion: Motion | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Sphere(Part):
    """A ball; `hollow`: the wall of a room of that shape, with the rods inside.

    radius: Radius [m]
    center: Centre [m]
    hollow: Whether rods are inside of it
    name: Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out
    material: Material, for its friction
    friction: Coefficient of friction with every rod, instead of that of materials
    motion: Prescribed motion; `orientation` turns it about its own centre
    """

    _tag: ClassVar = ('type', 'sphere')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    radius: Number
    center: Vector | None = None
    hollow: bool | None = None
    name: str | None = None
    material: str | None = None
    friction: Number | None = None
    motion: Motion | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Capsule(Part):
    """A round bar with round ends.

    from_: Middle of the ball at one end [m]
    to: Middle of the ball at the other end [m]
    radius: Radius [m]
    name: Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out
    material: Material, for its friction
    friction: Coefficient of friction with every rod, instead of that of materials
    motion: Prescribed motion; `orientation` turns it about its own centre
    """

    _tag: ClassVar = ('type', 'capsule')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    from_: Vector
    to: Vector
    radius: Number
    name: str | None = None
    material: str | None = None
    friction: Number | None = None
    motion: Motion | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Box(Part):
    """A box; `hollow`: the walls of a room of that shape, with the rods inside.

    size: Lengths of its edges [m]
    center: Centre [m]
    orientation: Rotation of its edges from the world axes
    hollow: Whether rods are inside of it
    name: Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out
    material: Material, for its friction
    friction: Coefficient of friction with every rod, instead of that of materials
    motion: Prescribed motion; `orientation` turns it about its own centre
    """

    _tag: ClassVar = ('type', 'box')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    size: Vector
    center: Vector | None = None
    orientation: Vector | None = None
    hollow: bool | None = None
    name: str | None = None
    material: str | None = None
    friction: Number | None = None
    motion: Motion | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Cylinder(Part):
    """A cylinder with flat ends: a bar, a sheave, a capstan. `hollow`: a bore with the rods inside, which goes on beyond its
    ends unless it is `closed`. For a pipe with ends that rods can come out of, use a `tube`.

    from_: Middle of one end [m]
    to: Middle of the other end [m]
    radius: Radius [m]
    hollow: Whether rods are inside of it
    closed: With `hollow`: whether it has walls at its ends
    name: Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out
    material: Material, for its friction
    friction: Coefficient of friction with every rod, instead of that of materials
    motion: Prescribed motion; `orientation` turns it about its own centre
    """

    _tag: ClassVar = ('type', 'cylinder')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    from_: Vector
    to: Vector
    radius: Number
    hollow: bool | None = None
    closed: bool | None = None
    name: str | None = None
    material: str | None = None
    friction: Number | None = None
    motion: Motion | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Tube(Part):
    """A pipe, open at both ends; rods may be in it, around it, or come out of it. Its walls are flat between `sides` edges;
    where rods stay inside, a `hollow` cylinder is round and faster.

    from_: Middle of one end [m]
    to: Middle of the other end [m]
    inner: Radius of the bore [m]
    outer: Radius outside [m]
    sides: Flat sides around; the bore touches its circle from outside
    name: Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out
    material: Material, for its friction
    friction: Coefficient of friction with every rod, instead of that of materials
    motion: Prescribed motion; `orientation` turns it about its own centre
    """

    _tag: ClassVar = ('type', 'tube')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    from_: Vector
    to: Vector
    inner: Number
    outer: Number
    sides: int | None = None
    name: str | None = None
    material: str | None = None
    friction: Number | None = None
    motion: Motion | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Mesh(Part):
    """A surface of triangles, .obj or .ply, which rods touch on both of its sides and never cross: whatever begins inside of
    a closed one stays inside. It stands still, moves as a whole by `motion`, or deforms from one of `files` to the next, or
    as a `cache` says.

    file: The mesh; file names are relative to the folder of the scene
    files: Meshes of the same triangles, one after the other, points going straight from one to the next
    cache: With `file`: a vertex cache (.pc2) with its points over time
    fps: How many of `files` or samples of `cache` pass in a second, from time 0 [1/s]
    scale: Size, as a multiple of the file's
    move: Shift, after scaling [m]
    open: Whether it may have holes: a sheet
    name: Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out
    material: Material, for its friction
    friction: Coefficient of friction with every rod, instead of that of materials
    motion: Prescribed motion; `orientation` turns it about its own centre
    """

    _tag: ClassVar = ('type', 'mesh')
    _parts: ClassVar = {'motion': ('', ('Motion',))}
    file: str | None = None
    files: Sequence[Any] | np.ndarray | None = None
    cache: str | None = None
    fps: Number | None = None
    scale: Number | None = None
    move: Vector | None = None
    open: bool | None = None
    name: str | None = None
    material: str | None = None
    friction: Number | None = None
    motion: Motion | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Contact(Part):
    """Rods collide with each other, with themselves and with obstacles; without this object they pass through each other.
    Centrelines never cross, whatever the step. See [contact.md](contact.md).

    friction: Coefficient of friction of materials without one of their own
    friction_pairs: Coefficients for pairs of materials; of other pairs, the larger one of the two materials' `friction`
    slip: Displacement at which a contact that held begins to slide, as a multiple of the rod's radius: smaller holds firmer
        and takes more iterations
    thickness: Radius of contact, as a multiple of the section's
    rods: Whether rods touch each other and themselves; `false`: obstacles alone
    """

    _parts: ClassVar = {'friction_pairs': ('list', ('FrictionPair',))}
    friction: Number | None = None
    friction_pairs: Sequence[FrictionPair | Mapping[str, Any]] | None = None
    slip: Number | None = None
    thickness: Number | None = None
    rods: bool | None = None

@dataclass(kw_only=True)
class FrictionPair(Part):
    """Friction between two materials.

    first: A material
    second: The other one; may be the same
    friction: Coefficient of friction between the two
    """

    first: str
    second: str
    friction: Number

@dataclass(kw_only=True)
class Automatic(Part):
    """Chooses the solver; `osier info` says which one and why. At present always `direct`, which does all that a scene can
    ask for.

    iterations: A fixed number of Gauss–Newton iterations per time step, instead of a tolerance
    tolerance: Iterations go on until the error of positions, judged by how corrections decay, is below this fraction of the
        step's motion; 1e-3 unless `iterations` are given
    max_iterations: Most iterations per step when a tolerance decides; beyond, the step counts as not converged. 50 when left
        out. Steps in contact may take three times as many, because friction is solved for in rounds
    """

    _tag: ClassVar = ('name', 'automatic')
    iterations: int | None = None
    tolerance: Number | None = None
    max_iterations: int | None = None

@dataclass(kw_only=True)
class Direct(Part):
    """Coupled Gauss–Newton steps, each solved in one pass along the rods, or by conjugate gradients where rods form many
    loops: converges in a few iterations however stiff the rods are. Does dynamics by implicit Euler and `analysis: static`.

    iterations: A fixed number of Gauss–Newton iterations per time step, instead of a tolerance
    tolerance: Iterations go on until the error of positions, judged by how corrections decay, is below this fraction of the
        step's motion; 1e-3 unless `iterations` are given
    max_iterations: Most iterations per step when a tolerance decides; beyond, the step counts as not converged. 50 when left
        out. Steps in contact may take three times as many, because friction is solved for in rounds
    """

    _tag: ClassVar = ('name', 'direct')
    iterations: int | None = None
    tolerance: Number | None = None
    max_iterations: int | None = None

@dataclass(kw_only=True)
class StableCosserat(Part):
    """Stable Cosserat Rods with the viscous addendum: vertex block descent for positions, closed-form quaternions for
    orientations, a few sweeps per step. Dynamics only. The name without any setting stands for `automatic`, as it used to.

    iterations: Sweeps per time step, unless `tolerance` is given
    tolerance: Instead of a fixed number: until the largest left-over force is below this fraction of the largest force at
        work
    max_iterations: Most sweeps per step when a tolerance decides; beyond, the step counts as not converged. 10000 when left
        out
    lambda_: How |q| = 1 is met: the paper's approximation (Eq. 22), its fixed point (Algorithm 1), or the exact secular root
        One of approx, exact, secular.
    order: Sequential sweeps (on one thread); coloured sweeps (parallel, the same result for any thread count); or all at once
        One of gauss_seidel, red_black, jacobi.
    """

    _tag: ClassVar = ('name', 'stable_cosserat')
    iterations: int | None = None
    tolerance: Number | None = None
    max_iterations: int | None = None
    lambda_: Literal['approx', 'exact', 'secular'] | None = None
    order: Literal['gauss_seidel', 'red_black', 'jacobi'] | None = None

@dataclass(kw_only=True)
class Newton(Part):
    """Sparse Newton (LDLᵀ, line search, shift when indefinite), in double: slow, exact, for any graph. Does dynamics by
    implicit Euler and `analysis: static`.

    tolerance: Largest left-over force per step, relative to the largest force at work
    max_iterations: Newton iterations per step before the step counts as not converged
    """

    _tag: ClassVar = ('name', 'newton')
    tolerance: Number | None = None
    max_iterations: int | None = None

@dataclass(kw_only=True)
class Projective(Part):
    """Cosserat rods with projective dynamics: sweeps of one global solve along the rods for positions and one for turns, with
    the exact gradients of the energy (`variant` exact), or with the projections and weights of the paper (`paper`), which
    make a rod of bending and twisting stiffness 2 G J3. Dynamics only.

    variant: `exact`: converges to the minimum of the step's energy, like `newton`. `paper`: projections and weights as
        printed, for the record: of a material it knows EA and G J3 only, and bends and twists with 2 G J3 One of exact,
        paper.
    iteration: `sweeps`; `anderson`: sweeps with Anderson acceleration; `coupled`: Gauss–Newton steps over positions and turns
        together, by the solver `direct`. `auto` takes the first up to chi = c h/r = 10, the second up to 50 and the third
        beyond, c being the speed of stretching waves, h the step and r the radius of the section; steps in which something
        may touch something are coupled One of auto, sweeps, anderson, coupled.
    iterations: Sweeps per time step, or Gauss–Newton steps where coupled. When left out: 10 sweeps; with acceleration 3
        sqrt(chi), and 3 chi in steps in contact, which `iteration` anderson does without; where coupled as many as the usual
        tolerance of `direct` takes
    tolerance: Instead of a fixed number: until the largest left-over force of a rod is below this fraction of the largest
        force at work in it; where coupled, the tolerance of `direct`
    max_iterations: Most sweeps per step when a tolerance decides; beyond, the step counts as not converged. 10000 when left
        out, 50 where coupled, and three times as many in steps in contact
    history: Earlier results that Anderson acceleration combines
    order: `gauss_seidel`: positions, then turns. `jacobi`: both from the same iterate, as printed, for `variant` paper: needs
        twice the sweeps, and odd numbers of them may never come to rest One of gauss_seidel, jacobi.
    """

    _tag: ClassVar = ('name', 'projective')
    variant: Literal['exact', 'paper'] | None = None
    iteration: Literal['auto', 'sweeps', 'anderson', 'coupled'] | None = None
    iterations: int | None = None
    tolerance: Number | None = None
    max_iterations: int | None = None
    history: int | None = None
    order: Literal['gauss_seidel', 'jacobi'] | None = None

@dataclass(kw_only=True)
class Deti(Part):
    """A damped exponential integrator for stiff fibres: every rod becomes a chain of cuboids of springs, which bends, twists
    and stretches like the rod, and moves by one linear solve per step, without iterations. Rods that are single chains with
    round sections; they are thin: shear of the material is left out.

    network: `scaffold`: springs that bend, twist and stretch like the rod. `paper`: the 16 springs of the paper's cuboids,
        for the record: they bend wrongly and resist no twist, and are refused where some of them would have to push apart
        what they hold One of scaffold, paper.
    scheme: `saturated`: the stiffness is linearised in every step, and stiff modes are saturated. `paper`: the two-step
        scheme as printed, with the stiffness at the start, for the record: it is right for small motion only, goes to wrong
        equilibria or blows up elsewhere, and takes time in proportion to the square of the number of segments of a rod One of
        saturated, paper.
    variant: The filter of stiff modes. `double_pole`: one real factorisation per step; `complex_pair`: one complex
        factorisation, three times as slow, with somewhat smaller errors of phase in small steps One of complex_pair,
        double_pole.
    rho: Share of its motion that a step leaves to modes that it does not resolve; 1: none is lost. Slow motion is not
        affected
    alpha0: Damping by mass, beside what drag the scene has: the alpha_0 of Rayleigh damping [1/s]
    alpha1: Damping by stiffness, beside that of the material: the alpha_1 of Rayleigh damping. It damps deformation and no
        rigid turn [s]
    functions: How the filter is applied. `factored`: by one factorisation per step. `krylov`: by Lanczos' method, as in the
        paper, with as many vectors as the step times the highest frequency asks for; worth it for short steps, and without
        SIMD lanes One of factored, krylov.
    krylov_tolerance: Error of the filter by `krylov`, relative, judged by what the last vectors change
    stretch: `material`: a spring between the centres of sections gives the rod its EA. `soft`: without it, EA = 16 EI/a^2 of
        the springs that bend, a being the side of the cuboids One of material, soft.
    aspect: Length of a cuboid over its side; the smaller of 1.5 and 0.9 sqrt(2 EI/GJ) when left out, or less where segments
        are about as short as the rod is thick
    section_stiffness: Stiffness of sections against distortion, over the largest of the other springs
    contact_tolerance: Where fibres touch: accuracy of positions, relative to the motion in a step or to half the range in
        which contact acts
    """

    _tag: ClassVar = ('name', 'deti')
    network: Literal['scaffold', 'paper'] | None = None
    scheme: Literal['saturated', 'paper'] | None = None
    variant: Literal['complex_pair', 'double_pole'] | None = None
    rho: Number | None = None
    alpha0: Number | None = None
    alpha1: Number | None = None
    functions: Literal['factored', 'krylov'] | None = None
    krylov_tolerance: Number | None = None
    stretch: Literal['material', 'soft'] | None = None
    aspect: Number | None = None
    section_stiffness: Number | None = None
    contact_tolerance: Number | None = None

@dataclass(kw_only=True)
class GeneralizedAlpha(Part):
    """The dynamic Cosserat equations of every rod as a boundary-value problem: velocities, angular velocities, curvatures and
    forces at its stations by a box scheme in space and the generalized-alpha method in time, solved together by Newton's
    method. For rods and rings without branches and without contact. It integrates in time by itself; the `integrator`
    generalized_alpha of /analysis is another thing, for the other solvers.

    rho_infinity: Share of the fastest oscillations that a step leaves over; 0.8 when left out. 0.5 is robust, 1 keeps the
        energy of a rod without loads to the last digits and does not damp at all
    alpha: Instead of `rho_infinity`, together with `beta` and `gamma`: weight of the old rates
    beta: Weight of the old state
    gamma: Weight of the new rate in the growth of the state
    theory: `cosserat`: rods that stretch and shear as their material does. `kirchhoff`: rods that do neither, exactly One of
        cosserat, kirchhoff.
    tolerance: Newton's method ends when a correction is below this: displacement over the length of the rod, angle, curvature
        and force relative to the largest
    max_iterations: Most iterations per step; where they do not suffice, the step is divided, in up to 64 parts
    """

    _tag: ClassVar = ('name', 'generalized_alpha')
    rho_infinity: Number | None = None
    alpha: Number | None = None
    beta: Number | None = None
    gamma: Number | None = None
    theory: Literal['cosserat', 'kirchhoff'] | None = None
    tolerance: Number | None = None
    max_iterations: int | None = None

@dataclass(kw_only=True)
class Execution(Part):
    """How a run is computed: the same for loads and solver, and for every solver that can work that way.

    threads: Threads of loads and solver; the result is the same for any number. The program uses all cores when it is left
        out, fewer where a scene is too small for them, and the library one
    simd: Instructions of the kernels: the widest this machine has, none (`off`: one number at a time), or a given set;
        results differ by rounding One of auto, off, sse2, avx2, avx512.
    precision: Number type of the solver's kernels; positions are accumulated in double either way One of float, double.
    device: Where the solver's kernels run: on the processor, on the first CUDA device, or, for tests, those of CUDA on the
        processor One of cpu, cuda, cuda_twin.
    """

    threads: int | None = None
    simd: Literal['auto', 'off', 'sse2', 'avx2', 'avx512'] | None = None
    precision: Literal['float', 'double'] | None = None
    device: Literal['cpu', 'cuda', 'cuda_twin'] | None = None

@dataclass(kw_only=True)
class Dynamic(Part):
    """Time stepping. The interval between two frames, 1/fps, is divided into whole equal steps no longer than `step`. Or
    `steps_per_frame` says how many there are: beside `fps` of length 1/(fps·n), beside `step` of that length, a frame every n
    steps.

    step: Longest time step h [s]
    duration: Simulated time, rounded up to whole frames [s]
    fps: Frames per second; 30 when left out [1/s]
    steps_per_frame: Steps per frame, beside either `fps` or `step`
    integrator: Time integration. `implicit_euler`: of first order, damps everything; the papers' own. Of second order:
        `bdf2`, which damps what is too fast for the step and is stable whatever the step; `midpoint`, which keeps momentum
        and does not damp, but wants steps that follow the motion; `generalized_alpha`, between the two by `rho_infinity`.
        When left out: `implicit_euler` for sweeps and where motors have a torque-speed curve, otherwise `bdf2` One of
        implicit_euler, bdf2, midpoint, generalized_alpha.
    rho_infinity: Share of the fastest oscillations that a step of `generalized_alpha` leaves over: 0 is `bdf2`, 1 is
        `midpoint`
    start: Where it starts: in the initial pose when left out, in the `equilibrium` of the loads and constraints at time 0, or
        in a frame of a run. Velocities of rods stay those of the scene in an equilibrium
    iterations: Short for /solver/iterations
    tolerance: Short for /solver/tolerance
    """

    _tag: ClassVar = ('type', 'dynamic')
    _parts: ClassVar = {'start': ('', ('Start',))}
    step: Number | None = None
    duration: Number | None = None
    fps: Number | None = None
    steps_per_frame: int | None = None
    integrator: Literal['implicit_euler', 'bdf2', 'midpoint', 'generalized_alpha'] | None = None
    rho_infinity: Number | None = None
    start: Start | Mapping[str, Any] | None = None
    iterations: int | None = None
    tolerance: Number | None = None

@dataclass(kw_only=True)
class Start(Part):
    """Starts from a frame of a recorded run of the same rods: its positions, velocities and material frames take the place of
    the initial pose, what has broken is broken, and clamps hold the directions that clamps held there. Time starts at 0, and
    constraints hold and move things from where they are in that frame.

    run: Folder of the run, or its trajectory.h5; a relative name starts at the folder of the scene
    frame: Frame of the run, counted from 0; negative numbers count from the end
    """

    run: str
    frame: int | None = None

@dataclass(kw_only=True)
class Static(Part):
    """Equilibrium, found in load steps; a step that does not converge is cut in halves, and the run fails if that does not
    help. Each load step is a frame; keyframes are read at its pseudo-time.

    control: `load`: the load grows step by step, and where it passes the largest load of a path (a limit point) the rods snap
        to another branch, which the run says. `arc_length`: the load is an unknown, too, and the path of equilibria is
        followed through limit points, forth and back, until it reaches the full load, or minus the full load
        (docs/theory/arc_length.md). Every step is a frame, and critical points are frames of their own; the time of a frame
        is the length of the path, its `load_factor` the share of the full load and of the pseudo-time of prescribed motion
        One of load, arc_length.
    load_steps: Steps from no load to full load. With `arc_length` no step is longer than one over this: the length of a step
        is the root of the mean square turn of the rods in rad and of the change of the load factor
    path_steps: With `control` arc_length: the run ends after so many steps, if not before
    duration: Pseudo-time of the last step, for keyframes [s]
    ramp: Whether loads grow in proportion to the pseudo-time; `false` takes them as keyframed
    tolerance: Largest left-over force, relative to the largest force at work
    max_iterations: Iterations per load step
    stop_at_instability: Stops at the pseudo-time where the equilibrium becomes unstable (a buckling load) or ends (a limit
        point, from where the rods would snap), however long the load steps. Directions that cost no energy (a rod between
        pins spins about its line) are no instability; loads without a potential (torques) are left out of the judgement
    start: Where it starts: in the initial pose when left out, or in a frame of a run
    branch: Past a critical load: `stable` leaves an equilibrium that has become unstable, downhill along its softest mode,
        and says so; `follow` stays on the path, unstable or not. With torques, which have no potential, no branch is left One
        of stable, follow.
    """

    _tag: ClassVar = ('type', 'static')
    _parts: ClassVar = {'start': ('', ('Start',))}
    control: Literal['load', 'arc_length'] | None = None
    load_steps: int | None = None
    path_steps: int | None = None
    duration: Number | None = None
    ramp: bool | None = None
    tolerance: Number | None = None
    max_iterations: int | None = None
    stop_at_instability: bool | None = None
    start: Start | Mapping[str, Any] | None = None
    branch: Literal['stable', 'follow'] | None = None

@dataclass(kw_only=True)
class Probe(Part):
    """Columns of `probes.csv`. A vertex gives position and velocity; a segment its frame, section force and strain; a joint
    its moment, bending angle and curvature; a clamp its elastic moment; a `reaction` what a constraint exerts, or what an
    obstacle bears; a place `at` a fraction of a `rod` position, force, moment, strain and curvature there. Axes and signs:
    [output.md](output.md#forces-and-moments).

    name: Prefix of the columns
    vertex: One vertex: x y z [m], vx vy vz [m/s]
    segment: One segment: frame qx qy qz qw, force fx fy fz [N] in world axes, tension [N], force n1 n2 n3 [N] and strain g1
        g2 g3 in material axes
    joint: One joint: moment mx my mz [N·m] in world axes, angle [rad] away from rest, moment m1 m2 m3 [N·m] and curvature k1
        k2 k3 [1/m] in material axes
    clamp: One clamped vertex: elastic moment mx my mz [N·m] that the clamp exerts on the rod, world axes; with damping see
        `reaction`
    reaction: Name of a constraint: force fx fy fz [N] and moment mx my mz [N·m], about the middle of the vertices it holds,
        that it exerts on the rods in the last step, inertia and damping included; nan before the first step. Or of an
        obstacle: force and moment, about its centre (`point` of a plane), that the rods exert on it in the last step
    axes: With `reaction`: world axes, or the material ones of the first frame or segment that the constraint holds; of an
        obstacle, world axes alone One of world, material.
    rod: A rod's name, with `at`: position x y z [m], tangent tx ty tz, and in material axes force n1 n2 n3 [N], moment m1 m2
        m3 [N·m], strain g1 g2 g3, curvature k1 k2 k3 [1/m]
    at: Where on the `rod`: 0 is its start, 1 its end, in between in proportion to the rest length
    """

    name: str
    vertex: Selection | None = None
    segment: Selection | None = None
    joint: Selection | None = None
    clamp: Selection | None = None
    reaction: str | None = None
    axes: Literal['world', 'material'] | None = None
    rod: str | None = None
    at: Number | None = None

@dataclass(kw_only=True)
class Output(Part):
    """What a run writes into its folder.

    formats: Trajectory formats, see `osier list formats`; `hdf5` when left out
    sections: Adds section forces, strains, moments and curvatures to the trajectory
    contacts: Adds contacts to the trajectory: where rods touch, the gap, normal force and friction
    diagnostics: How often a line goes to `diagnostics.csv` One of none, frame, step.
    probes: How often a line goes to `probes.csv` One of none, frame, step.
    checkpoint: How often the run saves itself, so that it can be resumed after whatever ended it; after every frame when left
        out
    """

    _parts: ClassVar = {'checkpoint': ('', ('Checkpoint',))}
    formats: Sequence[Any] | np.ndarray | None = None
    sections: bool | None = None
    contacts: bool | None = None
    diagnostics: Literal['none', 'frame', 'step'] | None = None
    probes: Literal['none', 'frame', 'step'] | None = None
    checkpoint: Checkpoint | Mapping[str, Any] | None = None

@dataclass(kw_only=True)
class Checkpoint(Part):
    """How often a run saves itself in its folder, for `osier run --resume`; `none`: never.

    frames: After every so many frames
    minutes: After the first frame that ends so long after the last time [min]
    """

    frames: int | None = None
    minutes: Number | None = None

@dataclass(kw_only=True)
class View(Part):
    """How the scene is shown by `osier view`, `osier render` and `--html` pages; nothing else reads it.

    ground: Height at which the ground is drawn, against gravity from the origin, or `none`. When left out, a level plane
        among the obstacles is the ground, and without one it lies below the rods. Nothing collides with a ground that is only
        drawn [m]
    """

    ground: Number | Any | None = None


__all__ = sorted(Part.classes)
