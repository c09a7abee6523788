// One picture: every pixel's samples, traced, shaded and averaged.
#pragma once

#include <functional>

#include "render/image.hpp"
#include "render/studio.hpp"
#include "render/tracer.hpp"

namespace osier::render {

struct PictureOptions {
  Style style = Style::tubes;
  int samples = 16;
  std::function<void(int done, int tiles)> progress = {};  ///< called on the thread that asked for the picture
  std::function<bool()> stop = {};                         ///< asked now and then; true: give up, the picture is not whole
};

/// The same bits for any number of threads.
Image draw_picture(const Geometry& geometry, const Tracer& tracer, const Camera& camera, const Studio& studio,
                   const PictureOptions& options, const Executor& executor);

}  // namespace osier::render
