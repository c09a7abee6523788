// How numbers and verdicts are written, for the terminal, Markdown and HTML alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "osier/validate.hpp"

namespace osier::validate {

const char* verdict_word(Verdict verdict);
std::string value_text(const std::optional<double>& v);
std::string error_text(const std::optional<double>& v);
std::string order_text(const std::optional<double>& v);

inline std::vector<std::string> column_heads(const std::string& resolution_name) {
  return {"quantity", resolution_name, "reference", "computed", "error", "allowed", "order", "4 sweeps", "result"};
}
std::vector<std::string> row_cells(const ValidationRow& row);

/// The same with iterations and residual, for the report.
std::vector<std::string> report_heads(const std::string& resolution_name);
std::vector<std::string> report_cells(const ValidationRow& row);

/// Cases of one group together, groups in the order in which they first occur.
std::vector<const ValidationCase*> by_group(const Validation& result);

/// "41 passed, 2 failed, ..."
std::string summary_text(const Validation& result);

}  // namespace osier::validate
