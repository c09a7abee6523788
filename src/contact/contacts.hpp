// The contacts of a step: which elements may touch during it. Every step gets them; nothing finds any yet.
#pragma once

namespace osier {

/// Will hold the candidate pairs of the step (segment with segment, vertex with obstacle), the distance at which each pair begins
/// to repel, and its friction. What must survive a step, such as friction anchors, belongs to State::memory.
struct Contacts {};

}  // namespace osier
