// What can go wrong, and how it is told.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace osier {

/// One thing wrong with the input: where (JSON pointer or file), what, and what to do about it.
struct Problem {
  std::string where;
  std::string what;
  std::string remedy;
};

/// `/rods/3/radius: -0.1 m; use a positive length`
std::string to_string(const Problem& problem);

/// Every problem of the input at once. The CLI exits with 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// The run itself failed (non-finite state, a static solve that did not converge, a full disk). The CLI exits with 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The state is no longer finite; what is kept is the last good one.
class NonFiniteError : public RunError {
 public:
  using RunError::RunError;
};

/// Collects problems so that a user sees all of them, then throws once.
class Problems {
 public:
  /// The same thing said twice counts once.
  void add(std::string where, std::string what, std::string remedy = {}) {
    for (const Problem& p : list_)
      if (p.where == where && p.what == what) return;
    list_.push_back({std::move(where), std::move(what), std::move(remedy)});
  }
  bool empty() const { return list_.empty(); }
  /// Whether something at this place or inside it has been reported already.
  bool mentions(const std::string& where) const {
    for (const Problem& p : list_)
      if (p.where == where || p.where.starts_with(where + "/")) return true;
    return false;
  }
  std::size_t size() const { return list_.size(); }
  /// Tells every problem at place(where) from now on: values may stand elsewhere than where the user wrote them.
  template <class F>
  void tell_at(const F& place) {
    for (Problem& p : list_) p.where = place(p.where);
  }
  void throw_if_any() {
    if (!list_.empty()) throw InputError(std::move(list_));
  }

 private:
  std::vector<Problem> list_;
};

}  // namespace osier
