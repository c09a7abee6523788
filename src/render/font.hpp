// Letters for the legends of pictures: strokes of a pen, so that they look right at any size and need no font file.
#pragma once

#include <string>

#include "render/image.hpp"

namespace osier::render {

/// How wide a line of text is whose capitals are `size` pixels high. UTF-8; what there is no letter for becomes a box.
double text_width(const std::string& text, double size);

/// Writes it from `x` on along the line `baseline` [pixels from the upper left corner], in a colour as the screen shows it.
void draw_text(Image& image, double x, double baseline, double size, const Rgb& shown, const std::string& text);

}  // namespace osier::render
