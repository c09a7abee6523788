// What can go wrong, and how it is told.
#pragma once

#include <set>
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

/// `/rods/3/radius: -0.1 m; use a positive length`, in one line: control characters are escaped.
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

/// A step did not hold what a certificate is about; the state before it is kept.
class CertificateError : public RunError {
 public:
  using RunError::RunError;
};

/// Collects problems so that a user sees all of them, then throws once.
class Problems {
 public:
  /// The same thing said twice counts once.
  void add(std::string where, std::string what, std::string remedy = {});
  bool empty() const { return list_.empty(); }
  /// Whether something at this place or inside it has been reported already.
  bool mentions(const std::string& where) const;
  std::size_t size() const { return list_.size(); }
  /// Tells every problem at place(where) from now on: values may stand elsewhere than where the user wrote them.
  template <class F>
  void tell_at(const F& place) {
    said_.clear();
    for (Problem& p : list_) {
      p.where = place(p.where);
      said_.insert(key_of(p.where, p.what));
    }
  }
  void throw_if_any() {
    if (!list_.empty()) throw InputError(std::move(list_));
  }

 private:
  /// Sorts by place, and what is inside a place right behind it.
  static std::string key_of(const std::string& where, const std::string& what) { return where + '\0' + what; }

  std::vector<Problem> list_;
  std::set<std::string> said_;  ///< the keys of the list: a scene may have a hundred thousand problems
};

}  // namespace osier
