#include "validate/experiments/rigid_spin.hpp"

#include "validate/experiments/workbench.hpp"

namespace osier::validate {

std::vector<double> RigidSpin::examine(const Json& json, const std::filesystem::path& folder) {
  const Workbench scene(json, folder);
  if (!scene.model.has_damping()) throw RunError("the scene has no damping; give its material `tau_stretch` and `tau_bend`");
  Random random(seed);
  double energy = 0, force = 0, moment = 0, strained = 0;
  for (int i = 0; i < samples; ++i) {
    Workbench damped = scene;
    damped.shake(strain, random);
    Workbench plain = damped;
    for (PerAxis& t : plain.model.segment_tau) t = {};
    for (PerAxis& t : plain.model.joint_tau) t = {};
    const Quatd turn = rotation_exp(3.0 * random.in_cube());
    const Vec3d shift = random.in_cube();
    Place at{damped.state.vertex_position, damped.state.frame_rotation};
    for (Vec3d& x : at.x) x = rotate(turn, x) + shift;
    for (Quatd& q : at.q) q = normalized(turn * q);
    const Unknowns z = damped.unknowns(at);
    const StepPotential with = damped.potential(at), without = plain.potential(at);
    const EnergyTerms e = with.value(z);
    std::vector<Vec3d> gx, gw, hx, hw;
    with.gradient(z, gx, gw);
    without.gradient(z, hx, hw);
    energy = std::max(energy, e.damping / (e.stretch_shear + e.bend_twist));
    force = std::max(force, farthest(gx, hx) / largest(hx));
    moment = std::max(moment, farthest(gw, hw) / largest(hw));
    strained = std::max(strained, e.stretch_shear + e.bend_twist);
  }
  return {energy, force, moment, strained};
}

}  // namespace osier::validate
