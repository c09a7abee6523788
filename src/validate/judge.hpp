// The pass rule of the catalogue.
#pragma once

#include <optional>
#include <span>

#include "osier/validate.hpp"
#include "validate/case.hpp"

namespace osier::validate {

/// A computed error may be this many times the error of the exact minimiser of the discrete energy.
constexpr double kTableFactor = 1.5;
/// Where a table says nothing else, the order must be at least this between these resolutions.
constexpr double kLeastOrder = 1.8;
constexpr int kOrderCoarse = 50, kOrderFine = 200;

double error_of(ErrorKind kind, double computed, double reference);

/// Largest |error| that passes; nothing when the expectation does not say.
std::optional<double> allowed_error(const ExpectSpec& expect, std::optional<int> resolution, const Values& parameters);

/// The order that an expectation asks for, by itself or through its table.
std::optional<OrderSpec> required_order(const ExpectSpec& expect);

/// log(|coarse error|/|fine error|)/log(fine/coarse)
double observed_order(double coarse_error, double fine_error, int coarse, int fine);

/// Fills verdict, order and note of the rows of one expectation, one per resolution. Rows that carry a note have failed already.
void judge(const ExpectSpec& expect, std::span<ValidationRow> rows);

}  // namespace osier::validate
