// What touched in the last step, as frames carry it.
#pragma once

#include <vector>

#include "contact/contacts.hpp"
#include "contact/record.hpp"
#include "osier/frame.hpp"

namespace osier {

/// `contacts` as in the step that `record` tells of, `state` at its end.
void list_contact_points(const contact::Record& record, const Contacts& contacts, const State& state,
                         std::vector<ContactPoint>& out);

}  // namespace osier
