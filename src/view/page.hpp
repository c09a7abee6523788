// The viewer's page: one HTML file that the build makes of viewer/ and puts into the program.
#pragma once

#include <string_view>

namespace osier::view {

/// Empty when the program was built without it.
std::string_view viewer_page();
/// What is missing then, and how to get it.
const char* viewer_page_remedy();
/// The page to serve: the viewer, or a few words on how to get it.
std::string_view page_to_serve();

}  // namespace osier::view
