// Prints a fingerprint of where scenes end: one line for every scene, method, number type and instruction set. Two builds that
// print the same lines compute the same bits; where a line differs, its numbers tell how far the two are apart.
//
//   golden_states [--work N] [--only TEXT] scenes/*.json > before.tsv
//
// A scene is run for as many of its steps as make N vertex-steps at most, and for one at least. compare.py beside this file
// compares two outputs.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "osier/error.hpp"
#include "osier/scene.hpp"
#include "osier/simulation.hpp"

namespace {

using namespace osier;

/// FNV-1a over the bits of numbers.
class Fingerprint {
 public:
  void add(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 8; ++i) {
      hash_ ^= (bits >> (8 * i)) & 0xff;
      hash_ *= 1099511628211ull;
    }
  }
  void add(const Vec3d& v) { add(v.x), add(v.y), add(v.z); }
  void add(const Quatd& q) { add(q.x), add(q.y), add(q.z), add(q.w); }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ull;
};

struct Variant {
  const char* name;
  std::vector<std::string> overrides;
};

void print_state(const Simulation& simulation, long steps, long iterations) {
  const State& s = simulation.state();
  Fingerprint print;
  double position = 0, velocity = 0, frame = 0;
  for (const Vec3d& x : s.vertex_position) print.add(x), position += x.x * x.x + x.y * x.y + x.z * x.z;
  for (const Vec3d& v : s.vertex_velocity) print.add(v), velocity += v.x * v.x + v.y * v.y + v.z * v.z;
  for (const Quatd& q : s.frame_rotation) print.add(q), frame += q.x * q.x + q.y * q.y;
  std::printf("%016llx\t%ld\t%ld\t%.12g\t%.12g\t%.12g\n", static_cast<unsigned long long>(print.value()), steps, iterations,
              std::sqrt(position), std::sqrt(velocity), std::sqrt(frame));
}

void run(const std::filesystem::path& file, const Variant& variant, const char* precision, const char* simd, double work) {
  std::printf("%s\t%s\t%s\t%s\t", file.filename().c_str(), variant.name, precision, simd);
  try {
    LoadOptions options{.solver = {}, .overrides = variant.overrides, .precision = precision, .threads = {}, .simd = simd};
    const Scene scene = Scene::load(file, options);
    Simulation simulation(scene);
    const long all = static_cast<long>(simulation.frame_count()) * simulation.steps_per_frame();
    const long most = std::max(1L, static_cast<long>(work / (1 + scene.model().vertex_count())));
    long iterations = 0, steps = 0;
    for (; steps < std::min(all, most) && !simulation.finished(); ++steps) iterations += simulation.step().iterations;
    print_state(simulation, steps, iterations);
  } catch (const InputError& e) {
    std::printf("refused\n");
  } catch (const std::exception& e) {
    std::printf("failed\t%s\n", e.what());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  double work = 1e5;
  std::string only;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--work" && i + 1 < argc) work = std::stod(argv[++i]);
    else if (std::string(argv[i]) == "--only" && i + 1 < argc) only = argv[++i];
    else files.emplace_back(argv[i]);
  }
  const std::vector<Variant> variants{{"scene", {}},
                                      {"sweep", {"/solver/method=sweep"}},
                                      {"sweep_approx", {"/solver/method=sweep", "/solver/lambda=approx"}},
                                      {"sweep_exact", {"/solver/method=sweep", "/solver/lambda=exact"}},
                                      {"gauss_seidel", {"/solver/method=sweep", "/solver/order=gauss_seidel"}},
                                      {"jacobi", {"/solver/method=sweep", "/solver/order=jacobi"}},
                                      {"direct", {"/solver/method=direct"}}};
  std::printf("scene\tmethod\tprecision\tsimd\thash\tsteps\titerations\tposition\tvelocity\tframe\n");
  for (const auto& file : files)
    for (const Variant& variant : variants)
      for (const char* precision : {"double", "float"})
        for (const char* simd : {"off", "sse2", "avx2", "avx512"}) {
          const bool elementwise = std::string(variant.name) == "gauss_seidel" || std::string(variant.name) == "jacobi";
          if (elementwise && std::string(simd) != "off") continue;
          if (!only.empty() && (file.filename().string() + " " + variant.name).find(only) == std::string::npos) continue;
          run(file, variant, precision, simd, work);
        }
}
