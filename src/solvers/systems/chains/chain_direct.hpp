// The direct solver for the chains of a model, in lanes and on threads.
#pragma once

#include <algorithm>

#include "core/archive.hpp"
#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "solvers/joint_model.hpp"
#include "solvers/systems/chains/chain_kernels.hpp"
#include "solvers/systems/tree/link_assembly.hpp"

namespace osier::systems {

/// Whether lanes can take the chain as it is held now: pins and fixed frames at its ends only, no hinge.
inline bool fits_lanes(const Chain& c, const Control& control) {
  if (c.segments() < 3 || c.first_joint < 0) return false;
  for (Index i = 1; i + 1 < c.vertices; ++i)
    if (control.vertex_fixed[c.first_vertex + i]) return false;
  for (Index i = 0; i < c.segments(); ++i) {
    const FrameControl f = control.frame_control[c.first_segment + i];
    if (f == FrameControl::hinged) return false;
    if (f == FrameControl::fixed && i > 0 && i + 1 < c.segments()) return false;
  }
  return true;
}

/// What lanes are made for: frames without inertia, and stiffness along every axis of every joint.
inline bool is_plain(const Model& m, const Chain& c) {
  // Lanes have springs along the axes halfway between two frames, which is too soft where flat bars are welded on at an angle.
  const auto plain = [&](Index j) {
    if (j < 0) return true;
    const Quatd half = half_rotation(m.joint_rest_rotation[j]);
    return m.joint_stiffness[j].smallest() > 0 &&
           (is_isotropic_joint(m, j) || angle_stiffening(cast<double>(m.joint_stiffness[j]), half) < kAngleStiffening);
  };
  for (Index s = c.first_segment; s < c.first_segment + c.segments(); ++s)
    if (!(m.segment_stiffness[s].smallest() > 0) || m.segment_inertia[s].any()) return false;
  if (!plain(c.head_joint) || !plain(c.tail_joint)) return false;
  for (Index i = 0; c.first_joint >= 0 && i + 1 < c.segments(); ++i)
    if (!plain(c.first_joint + i)) return false;
  return true;
}

inline bool is_driven(const Control& control, const Chain& c) {
  if (!control.has_torque) return false;
  for (Index s = c.first_segment; s < c.first_segment + c.segments(); ++s)
    if (norm2(control.frame_torque[s]) + norm2(control.frame_torque_material[s]) > 0) return true;
  return false;
}

/// Of a plain chain. The anisotropic law also knows torques.
inline StiffnessLaw law_of(const Model& m, const Control& control, const Chain& c) {
  if (is_driven(control, c)) return StiffnessLaw::anisotropic;
  for (Index s = c.first_segment; s < c.first_segment + c.segments(); ++s)
    if (!is_isotropic_segment(m, s)) return StiffnessLaw::anisotropic;
  bool all = is_isotropic_joint(m, c.head_joint) && is_isotropic_joint(m, c.tail_joint);
  for (Index i = 0; c.first_joint >= 0 && i + 1 < c.segments(); ++i) all = all && is_isotropic_joint(m, c.first_joint + i);
  return all ? StiffnessLaw::isotropic : StiffnessLaw::anisotropic;
}

/// Chains of one law arranged in groups, and the forces through their links, which are kept from step to step.
template <class T>
struct ChainArrangement {
  Simd simd = Simd::off;
  const ChainKernel<T>* kernel = nullptr;
  lanes::ChainPlan<T> plan;
  std::vector<T> force;

  void bind(const Model& model, std::span<const Chain> chains, StiffnessLaw law, Simd wanted) {
    // No wider than there are chains, unless some will be cut.
    const auto long_one = [](const Chain& c) { return c.vertices >= lanes::kShortestCut; };
    simd = simd_resolved(wanted);
    kernel = &chain_kernel<T>(simd);
    if (std::none_of(chains.begin(), chains.end(), long_one))
      for (Simd narrow : {Simd::avx2, Simd::sse2, Simd::off})
        if (const ChainKernel<T>& k = chain_kernel<T>(narrow);
            simd_available(narrow) && k.lanes < kernel->lanes && static_cast<std::size_t>(k.lanes) >= chains.size()) {
          simd = narrow;
          kernel = &k;
        }
    plan = lanes::plan_chains<T>(model, chains, kernel->lanes, law, lanes::ChainUse::direct);
    force.assign(plan.constants.size() / static_cast<std::size_t>(plan.constants_per_row()) * forces_per_row(), T(0));
  }
  const T* constants_of(const ChainGroup& g) const { return plan.constants.data() + g.constants; }
  T* force_of(const ChainGroup& g) {
    return force.data() + g.constants / static_cast<std::size_t>(plan.constants_per_row()) * forces_per_row();
  }
  std::size_t bytes() const {
    return plan.constants.size() * sizeof(T) + force.size() * sizeof(T) + plan.groups.size() * sizeof(ChainGroup);
  }

 private:
  std::size_t forces_per_row() const { return static_cast<std::size_t>(kernel->forces(plan.law)); }
};

template <class T>
class ChainDirect {
 public:
  void bind(const Model& model, std::span<const Chain> chains, StiffnessLaw law, Simd simd, const Executor& executor) {
    chains_.bind(model, chains, law, simd);
    outcome_.resize(plan().groups.size());
    outlook_.assign(plan().groups.size(), {});
    threads_ = executor.threads();
    scratch_bytes_ = (chains_.kernel->scratch_bytes(law)(plan().most_rows) + kCacheLine - 1) / kCacheLine * kCacheLine;
    scratch_.resize(scratch_bytes_ * static_cast<std::size_t>(threads_));
  }

  /// What a step leaves behind for the next.
  void carry(Archive& archive) { archive(chains_.force, outlook_); }

  std::size_t bytes() const {
    return chains_.bytes() + outcome_.size() * (sizeof(ChainOutcome) + sizeof(ChainOutlook)) +
           scratch_bytes_ * static_cast<std::size_t>(threads_);
  }

  ChainOutcome step(const StepView& view, const ChainOptions& options, const Executor& executor) {
    executor.for_each(
        plan().groups.size(),
        [&](std::size_t i) {
          const ChainGroup& g = plan().groups[i];
          std::byte* scratch = scratch_.data() + static_cast<std::size_t>(executor.worker()) * scratch_bytes_;
          outcome_[i] = chains_.kernel->step(plan().law)(g, plan().group_after(i), chains_.constants_of(g), plan().damped, view,
                                                         options, chains_.force_of(g), outlook_[i], scratch);
        },
        kGroupWeight);
    ChainOutcome all;
    for (const ChainOutcome& o : outcome_) all += o;
    return all;
  }

  /// Calls f(first segment, count) for every strand whose energy rose in the last step.
  template <class F>
  void each_that_rose(const F& f) const {
    for (std::size_t i = 0; i < plan().groups.size(); ++i) {
      const ChainGroup& g = plan().groups[i];
      if (outcome_[i].energy_rose == 0) continue;
      for (int k = 0; k < plan().lanes; ++k)
        if (g.segments[k] > 0 && (g.cut || (outcome_[i].energy_rose >> k & 1u))) f(g.first_segment[k], g.segments[k]);
    }
  }

 private:
  static constexpr std::size_t kGroupWeight = 128;  ///< items that a group counts as: two groups take two threads
  const lanes::ChainPlan<T>& plan() const { return chains_.plan; }
  ChainArrangement<T> chains_;
  std::vector<ChainOutcome> outcome_;
  std::vector<ChainOutlook> outlook_;
  int threads_ = 1;
  std::size_t scratch_bytes_ = 0;  ///< per thread
  AlignedArray<std::byte> scratch_;
};

}  // namespace osier::systems
