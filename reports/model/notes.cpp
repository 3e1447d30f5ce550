// Finds notes by their names.
#include "reports/model/notes.h"

#include <algorithm>

#include "scenarios/plan/schedules/partition.h"

namespace parbench::report {

const std::string* find_note(const CaseResult& c, std::string_view name) {
  const auto found = std::ranges::find(c.notes, name, &NamedTexts::value_type::first);
  return found == c.notes.end() ? nullptr : &found->second;
}

std::string reason_without_profile(const CaseResult& c) {
  const std::string* note = find_note(c, no_timeline);
  return note == nullptr ? "it was not profiled" : *note;
}

std::string cut_of(const CaseResult& c) {
  const std::string* note = find_note(c, cut_note);
  return note == nullptr ? std::string() : *note;
}

}  // namespace parbench::report
