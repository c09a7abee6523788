// The `contact` object of a scene -> what a step knows of contact.
#pragma once

#include <functional>

#include "scene/setup.hpp"

namespace osier {

/// `names_of` calls a segment by its rod and its place there. Adds a problem for materials that do not exist and for rods that
/// cross each other at the start.
void compile_contact(Setup& setup, const std::function<std::string(Index)>& name_of, Problems& problems);

}  // namespace osier
