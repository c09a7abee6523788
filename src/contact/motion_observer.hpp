// Who wants to see what a step with contact does, motion by motion: checks that do not take its word for the result.
#pragma once

#include <vector>

#include "math/vec3.hpp"

namespace osier::contact {

class ContactStep;

class MotionObserver {
 public:
  virtual ~MotionObserver() = default;
  /// The step begins, or begins again: what was told of it before is void. Displacements and shares of obstacles are 0.
  virtual void begin_path() = 0;
  /// A motion has been accepted: straight from the place of the last call to displacements u since the start of the step, and
  /// of obstacles to these shares of their motion. Parts of a model that contact leaves alone are not where u says.
  virtual void move(const std::vector<Vec3d>& u, const std::vector<double>& obstacle_share) = 0;
  /// The step ends at u, where `contact` is linearised with the stiffnesses that it had in this step.
  virtual void end_path(const ContactStep& contact, const std::vector<Vec3d>& u) = 0;
};

}  // namespace osier::contact
