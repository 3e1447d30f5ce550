// Reads the note.
#include "reports/model/without_profile.h"

#include <algorithm>

namespace parbench::report {

std::string reason_without_profile(const CaseResult& c) {
  const auto note = std::ranges::find(c.notes, no_timeline, &NamedTexts::value_type::first);
  return note == c.notes.end() ? "it was not profiled" : note->second;
}

}  // namespace parbench::report
