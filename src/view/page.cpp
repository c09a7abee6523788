#include "view/page.hpp"

#if defined(OSIER_VIEWER_PAGE)
// The file as it is: a string literal of this length takes the compiler minutes.
asm(".section .rodata\n"
    ".global osier_viewer_page_begin\n"
    ".global osier_viewer_page_end\n"
    "osier_viewer_page_begin:\n"
    ".incbin \"" OSIER_VIEWER_PAGE
    "\"\n"
    "osier_viewer_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char osier_viewer_page_begin[], osier_viewer_page_end[];
#endif

namespace osier::view {

std::string_view viewer_page() {
#if defined(OSIER_VIEWER_PAGE)
  return {osier_viewer_page_begin, static_cast<std::size_t>(osier_viewer_page_end - osier_viewer_page_begin)};
#else
  return {};
#endif
}

const char* viewer_page_remedy() {
  return "install the packages nodejs (18 or newer) and npm, then configure and build again (cmake reports whether it found "
         "them)";
}

std::string_view page_to_serve() {
  static constexpr std::string_view kSubstitute =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Osier</title>"
      "<body style=\"font: 16px sans-serif; max-width: 40em; margin: 3em auto\"><h1>No viewer in this build</h1>"
      "<p>This osier was built without its viewer. Install the packages <code>nodejs</code> (18 or newer) and <code>npm</code>, "
      "then configure and build again.</p></body></html>\n";
  return viewer_page().empty() ? kSubstitute : viewer_page();
}

}  // namespace osier::view
