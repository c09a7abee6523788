#include "sim/checkpoint.hpp"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "exec/simd.hpp"
#include "io/journal.hpp"
#include "osier/error.hpp"

namespace osier {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "osier-checkpoint 2\n";

[[noreturn]] void refuse(const fs::path& where, const std::string& what, const std::string& remedy) {
  throw InputError({{where.string(), what, remedy}});
}

std::uint64_t digest_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.value();
}

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Files that words of the scene name: curves, motions, meshes.
void find_files(const Json& json, const fs::path& folder, std::vector<std::pair<std::string, std::uint64_t>>& files) {
  if (json.is_string()) {
    const std::string word = json.get<std::string>();
    std::error_code ignored;  // no file then
    const fs::path path = folder / word;
    if (word.size() < 4096 && word.find('\0') == std::string::npos && fs::is_regular_file(path, ignored))
      files.emplace_back(word, digest_of(contents(path)));
  } else if (json.is_structured()) {
    for (const Json& part : json) find_files(part, folder, files);
  }
}

/// Places where two scenes differ. The number of threads does not change a bit.
void find_differences(const Json& then, const Json& now, const std::string& at, Problems& problems) {
  if (then == now || at == "/execution/threads") return;
  if (at == "/execution" && then.is_null() != now.is_null()) {  // as if it were there, with nothing in it
    const Json empty = Json::object();
    find_differences(then.is_null() ? empty : then, now.is_null() ? empty : now, at, problems);
    return;
  }
  const auto both = [&](auto test) { return test(then) && test(now); };
  if (both([](const Json& j) { return j.is_object(); })) {
    const Json none;
    for (const auto& [key, value] : then.items())
      find_differences(value, now.contains(key) ? now[key] : none, at + "/" + key, problems);
    for (const auto& [key, value] : now.items())
      if (!then.contains(key)) find_differences(none, value, at + "/" + key, problems);
    return;
  }
  if (both([](const Json& j) { return j.is_array(); }) && then.size() == now.size()) {
    for (std::size_t i = 0; i < then.size(); ++i) find_differences(then[i], now[i], fmt::format("{}/{}", at, i), problems);
    return;
  }
  const auto shown = [](const Json& j) { return j.is_null() ? std::string("nothing") : shorten(j); };
  problems.add(at, fmt::format("is {}, and was {} in the run that is to be resumed", shown(now), shown(then)),
               "change it back, or run the scene anew");
}

}  // namespace

void Checkpoint::carry(Archive& a) {
  a(version, simd, scene_json, files, scene_file, scene_folder, scene_name, solver, precision, simd_option, overrides);
  a(frame, frames, sizes, simulation);
  a(counts.steps, counts.iterations, counts.steps_not_converged, counts.steps_held_back, counts.held_back_at, counts.steps_judged,
    counts.steps_not_solved, counts.worst_residual, counts.worst_residual_at);
}

Checkpoint checkpoint_of(const Setup& setup) {
  Checkpoint c;
  c.version = version();
  c.simd = simd_name(simd_resolved(setup.spec.solver->simd_on(setup.model)));
  c.scene_json = setup.json;
  find_files(Json::parse(setup.json), setup.folder, c.files);
  std::error_code ignored;  // then the name as it was given
  c.scene_file = setup.source.empty() ? "" : fs::absolute(setup.source, ignored).string();
  c.scene_folder = fs::absolute(setup.folder, ignored).string();
  c.scene_name = setup.name;
  c.solver = setup.options.solver, c.precision = setup.options.precision, c.simd_option = setup.options.simd;
  c.overrides = setup.options.overrides;
  return c;
}

bool has_checkpoint(const fs::path& folder) {
  std::error_code ignored;  // what cannot be looked at is not there
  return std::any_of(kCheckpointNames.begin(), kCheckpointNames.end(),
                     [&](const char* name) { return fs::exists(folder / name, ignored); });
}

void CheckpointFiles::write(Checkpoint& checkpoint, bool wait) {
  const std::string body = carried([&](Archive& a) { a(checkpoint); });
  std::uint64_t digest = digest_of(body), size = body.size();
  const int next = 1 - last_;
  const fs::path path = folder_ / kCheckpointNames[static_cast<std::size_t>(next)];
  std::unique_ptr<OutputFile>& file = file_[static_cast<std::size_t>(next)];
  if (!file) file = std::make_unique<OutputFile>(path, OutputFile::Mode::growing);
  const std::string head = std::string(kMagic) + carried([&](Archive& a) { a(digest, size); });
  file->overwrite(0, head);
  file->overwrite(head.size(), body);
  if (wait) sync_file(path);
  last_ = next;
}

void CheckpointFiles::remove() {
  std::error_code ignored;  // they do no harm
  for (const char* name : kCheckpointNames) fs::remove(folder_ / name, ignored);
}

namespace {

/// Nothing where the file is not whole. Throws InputError where it is of another version.
std::optional<Checkpoint> read_file(const fs::path& file) {
  const std::string text = contents(file);
  if (text.size() >= kMagic.size() && !text.starts_with(kMagic))
    refuse(file, "was written by another version of osier", "resume it with that version, or run the scene anew");
  try {
    std::uint64_t digest = 0, size = 0;
    Archive head(text.substr(std::min(kMagic.size(), text.size()), sizeof digest + sizeof size));
    head(digest, size);
    const std::string body = text.substr(kMagic.size() + sizeof digest + sizeof size, static_cast<std::size_t>(size));
    if (body.size() != size || digest_of(body) != digest) return {};
    Archive archive(body);
    Checkpoint checkpoint;
    archive(checkpoint);
    return checkpoint;
  } catch (const RunError&) {
    return {};
  }
}

}  // namespace

Checkpoint read_checkpoint(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) refuse(folder, "there is no such folder", "name the folder of a run");
  if (!has_checkpoint(folder))
    refuse(folder,
           std::string("holds no checkpoint: ") +
               (fs::exists(folder / "trajectory.h5", error) ? "its run came to its end, or kept none" : "there is no run in it"),
           "name the folder of a run that was interrupted");
  std::optional<Checkpoint> newest;
  for (int slot = 0; slot < 2; ++slot) {
    std::optional<Checkpoint> found = read_file(folder / kCheckpointNames[static_cast<std::size_t>(slot)]);
    if (!found || (newest && newest->frame >= found->frame)) continue;
    newest = std::move(found);
    newest->slot = slot;
  }
  if (!newest)
    refuse(folder, "the checkpoint is damaged, or the run was killed before its first one was whole", "run the scene anew");
  return *std::move(newest);
}

void expect_same(const Checkpoint& checkpoint, const Setup& setup) {
  Problems problems;
  const Checkpoint now = checkpoint_of(setup);
  const std::string anew = "or run the scene anew";
  if (now.version != checkpoint.version)
    problems.add("version", fmt::format("the run is one of osier {}, and this is {}", checkpoint.version, now.version),
                 "resume it with that version, " + anew);
  if (now.simd != checkpoint.simd)
    problems.add("/execution/simd",
                 fmt::format("the run has kernels of {}, and here it would have those of {}: last bits would differ",
                             checkpoint.simd, now.simd),
                 "resume it on a machine of that kind, " + anew);
  find_differences(Json::parse(checkpoint.scene_json), Json::parse(now.scene_json), "", problems);
  for (const auto& [name, digest] : checkpoint.files) {
    const auto same = [&, &file = name](const auto& f) { return f.first == file; };
    const auto found = std::find_if(now.files.begin(), now.files.end(), same);
    if (found == now.files.end()) problems.add(name, "the scene's file is gone", "put it back, " + anew);
    else if (found->second != digest) problems.add(name, "the scene's file has changed since", "put the old one back, " + anew);
  }
  problems.throw_if_any();
}

Scene scene_of_checkpoint(const fs::path& folder, int default_threads, std::optional<int> threads) {
  const Checkpoint c = read_checkpoint(folder);
  LoadOptions options;
  options.default_threads = default_threads;
  options.threads = threads;
  std::error_code ignored;  // the file is gone then
  if (c.scene_file.empty() || !fs::is_regular_file(c.scene_file, ignored))
    return Scene::parse(c.scene_json, c.scene_name, c.scene_folder, options);
  options.solver = c.solver, options.precision = c.precision, options.simd = c.simd_option;
  options.overrides = c.overrides;
  return Scene::load(c.scene_file, options);
}

bool CheckpointRhythm::is_due(int index) const {
  if (spec_.off) return false;
  if (spec_.minutes) return Clock::now() - last_ >= std::chrono::duration<double, std::ratio<60>>(*spec_.minutes);
  return index % spec_.frames.value_or(1) == 0;
}

bool CheckpointRhythm::waits() const { return Clock::now() - last_wait_ >= std::chrono::seconds(1); }

void CheckpointRhythm::saved(bool waited) {
  last_ = Clock::now();
  if (waited) last_wait_ = last_;
}

}  // namespace osier
