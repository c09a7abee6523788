// A compiled scene: everything a simulation needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contact/contacts.hpp"
#include "osier/model.hpp"
#include "osier/scene.hpp"
#include "osier/state.hpp"
#include "scene/spec.hpp"

namespace osier {

enum class ProbeKind { vertex, segment, joint, clamp, place, reaction, obstacle };

struct Probe {
  std::string name;
  ProbeKind kind;
  Index element;               ///< clamp: its vertex; place: its segment; reaction: the constraint; obstacle: its number
  double along = 0;            ///< place: 0 at the segment's first vertex, 1 at its second
  bool material_axes = false;  ///< reaction
};

/// Where a material is used: its section, at the thinnest and the thickest place.
struct MaterialUse {
  std::string name;  ///< or the JSON pointer of one written in place
  Section section;
  double thinnest = 1, thickest = 1;  ///< as multiples of the section's linear size
  Index segments = 0;
  std::optional<double> friction;
  Track<double> young_over_time, shear_over_time;  ///< factors; not given: 1
};

/// A weld or a joint that closes or opens during the run.
struct TimedJoint {
  Index a = -1, b = -1;       ///< vertices that become one, a; negative: joints alone
  std::vector<Index> joints;  ///< that hold while it is closed
  std::optional<double> close, open;
  double within = 0;        ///< distance at which the vertices meet [m]
  bool keeps_rest = false;  ///< the joints have a rest rotation of their own
};

/// Segments that a structure made with sections of its own, of no material.
struct StructureUse {
  std::string name;
  Index first = 0, count = 0;
};

struct Setup {
  std::string name, json;
  std::filesystem::path source, folder;  ///< the file that it was read from, or none, and where its files are looked for
  LoadOptions options;
  std::vector<std::string> warnings;
  std::vector<std::string> unresisted;  ///< torques that no motion balances (unresisted.hpp)
  bool ends_by_count = false;           ///< steps end after so many iterations, whatever is left
  Model model;
  State initial;
  SceneSpec spec;     ///< owns constraints, forces, solver settings and analysis, bound to the model
  Contacts contacts;  ///< not active without `contact`
  std::vector<Probe> probes;
  std::vector<TimedJoint> timed_joints;
  std::vector<MaterialUse> materials;   ///< of the rods, in order of appearance
  std::vector<Index> segment_material;  ///< one of these, or -1 where `structures` tells
  std::vector<StructureUse> structures;
  /// Names that speak of the model's elements.
  Names names() const;
};

/// Builds the graph, applies constraints and resolves selections; adds a problem for everything that does not fit together.
void compile_scene(Setup& setup, Problems& problems);

}  // namespace osier
