// Newton's method with contact converges where it is hard: a cable that snaps into a plectoneme, a knot that is pulled tight.
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "osier/osier.hpp"

namespace osier::test {
namespace {

struct Case {
  const char *scene, *material;
  double young;
  int steps;  ///< of the short suite: past where it is hardest
};

class ContactConvergence : public testing::TestWithParam<Case> {};

TEST_P(ContactConvergence, EveryStepConverges) {
  const Case& c = GetParam();
  LoadOptions options;
  options.solver = "direct";
  options.overrides = {fmt::format("/materials/{}/young={}", c.material, c.young)};
  Simulation s(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + c.scene + ".json", options));
  const int all = s.frame_count() * s.steps_per_frame(), steps = std::getenv("OSIER_LONG") ? all : c.steps;
  s.certify();
  long sum = 0;
  int worst = 0;
  for (int i = 0; i < steps; ++i) {
    const StepReport report = s.step();
    ASSERT_FALSE(report.not_converged) << "step " << i + 1;
    ASSERT_FALSE(report.held_back) << "step " << i + 1;
    sum += report.iterations;
    worst = std::max(worst, report.iterations);
  }
  EXPECT_LE(static_cast<double>(sum) / steps, 12);
  EXPECT_LE(worst, 40);
}
/// Steps that are called solved are solved, with friction as it is at their end: the certificate looks at what is left.
class CertifiedScene : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(CertifiedScene, HoldsInEveryStep) {
  const auto [name, steps] = GetParam();
  Simulation s(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json"));
  s.certify();
  for (int i = 0; i < steps; ++i) ASSERT_NO_THROW(s.step()) << "step " << i + 1;
}
INSTANTIATE_TEST_SUITE_P(Scenes, CertifiedScene,
                         testing::Values(std::pair{"capstan", 60}, std::pair{"gripper", 260}, std::pair{"rod_in_tube", 60},
                                         std::pair{"hair_ball", 110}, std::pair{"incline", 60}, std::pair{"rope_pile", 80}));

INSTANTIATE_TEST_SUITE_P(Scenes, ContactConvergence,
                         testing::Values(Case{"twirl", "rubber", 1e6, 60}, Case{"twirl", "rubber", 1e7, 300},
                                         Case{"twirl", "rubber", 1e8, 264}, Case{"knot_tighten", "rope", 1e6, 60},
                                         Case{"knot_tighten", "rope", 1e7, 60}, Case{"knot_tighten", "rope", 1e8, 60}));

}  // namespace
}  // namespace osier::test
