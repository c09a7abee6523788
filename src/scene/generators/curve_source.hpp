// Curves of a file as a scene asks for them.
#pragma once

#include <optional>
#include <string>

#include "osier/curves.hpp"

namespace osier {

/// What `read` returns, edited. What is wrong with the file becomes problems at `where`/file, what is wrong with an edit at the
/// edit's own key.
template <class Read>
std::optional<CurveSet> edited_curves(Read read, const CurveEdits& edits, const std::string& where, Problems& problems) {
  CurveSet curves;
  try {
    curves = read();
  } catch (const InputError& error) {
    for (const Problem& p : error.problems()) problems.add(where + "/file", p.where + ": " + p.what, p.remedy);
    return {};
  }
  try {
    return edit_curves(std::move(curves), edits);
  } catch (const InputError& error) {
    for (const Problem& p : error.problems()) problems.add(where + p.where, p.what, p.remedy);
    return {};
  }
}

}  // namespace osier
