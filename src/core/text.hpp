// Small text helpers for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace osier {

std::string join(const std::vector<std::string>& words, std::string_view separator);

/// The known word that `word` was probably meant to be, or "" when none is near.
std::string closest(const std::string& word, const std::vector<std::string>& known);

/// `~` and `/` inside a JSON pointer token.
std::string escape_pointer(const std::string& token);

/// At most `most` bytes, cut between characters and marked with "..." where something is missing.
std::string shorten(const std::string& text, std::size_t most = 60);

/// With control characters written out (`\\x1b`), also those of two bytes: text of a scene must not move a terminal's cursor.
std::string printable(std::string_view text);

/// Whether a name can be a file, a column or a word of a selection: no control characters.
bool has_control_characters(const std::string& text);

}  // namespace osier
