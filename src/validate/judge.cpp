#include "validate/judge.hpp"

#include <cmath>
#include <fmt/format.h>

namespace osier::validate {

double error_of(ErrorKind kind, double computed, double reference) {
  const double difference = computed - reference;
  return kind == ErrorKind::relative ? difference / std::abs(reference) : difference;
}

std::optional<double> allowed_error(const ExpectSpec& expect, std::optional<int> resolution, const Values& parameters) {
  if (const Formula* f = expect.table.find(resolution)) return kTableFactor * std::abs(evaluate(f->text, parameters));
  if (const Formula* f = expect.within.find(resolution)) return std::abs(evaluate(f->text, parameters));
  return {};
}

std::optional<OrderSpec> required_order(const ExpectSpec& expect) {
  if (expect.order) return expect.order;
  if (!expect.table.at.contains(kOrderCoarse) || !expect.table.at.contains(kOrderFine)) return {};
  return OrderSpec{{kOrderCoarse, kOrderFine}, kLeastOrder};
}

double observed_order(double coarse_error, double fine_error, int coarse, int fine) {
  return std::log(std::abs(coarse_error / fine_error)) / std::log(static_cast<double>(fine) / coarse);
}

static void judge_order(const OrderSpec& order, std::span<ValidationRow> rows) {
  ValidationRow *coarse = nullptr, *fine = nullptr;
  for (ValidationRow& r : rows) {
    if (r.resolution == order.between[0]) coarse = &r;
    if (r.resolution == order.between[1]) fine = &r;
  }
  if (!coarse || !fine || !coarse->error || !fine->error) return;  // not run, or failed already
  fine->order = observed_order(*coarse->error, *fine->error, order.between[0], order.between[1]);
  fine->order_required = order.at_least;
  const bool enough = *fine->order >= order.at_least;
  if (!enough) {
    fine->verdict = Verdict::failed;
    fine->note = fmt::format("order {:.2f} from {} to {}, at least {:g} is required", *fine->order, order.between[0],
                             order.between[1], order.at_least);
  } else if (fine->verdict == Verdict::shown) {
    fine->verdict = Verdict::passed;
  }
}

void judge(const ExpectSpec& expect, std::span<ValidationRow> rows) {
  for (ValidationRow& r : rows) {
    if (!r.note.empty()) {
      r.verdict = Verdict::failed;
    } else if (r.error && !std::isfinite(*r.error)) {
      r.verdict = Verdict::failed;
      r.note = "the result is not finite";
    } else if (r.allowed) {
      const bool near = r.error && std::abs(*r.error) <= *r.allowed;
      r.verdict = near ? Verdict::passed : Verdict::failed;
    }
  }
  if (const std::optional<OrderSpec> order = required_order(expect)) judge_order(*order, rows);
}

}  // namespace osier::validate
