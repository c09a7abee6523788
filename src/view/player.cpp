#include "osier/recording.hpp"
#include "sim/recorder.hpp"
#include "view/page.hpp"
#include "view/recording.hpp"

namespace osier {

RunInfo run_info(const Scene& scene) { return run_info(scene.setup()); }

static std::string_view page_for(const std::filesystem::path& file) {
  if (view::viewer_page().empty())
    throw InputError({{file.string(), "this osier was built without the viewer's page", view::viewer_page_remedy()}});
  return view::viewer_page();
}

std::unique_ptr<Writer> make_html_writer(const std::filesystem::path& file, const std::filesystem::path& run_folder) {
  return std::make_unique<view::HtmlWriter>(file, page_for(file), run_folder);
}

void write_html(Trajectory& run, const std::filesystem::path& file) {
  std::vector<Trajectory> slots;
  slots.push_back(Trajectory::open(run.path()));
  view::write_html(slots, file, page_for(file));
}

}  // namespace osier
