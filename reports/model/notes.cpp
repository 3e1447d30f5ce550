// Finds notes by name.
#include "reports/model/notes.h"

#include "scenarios/plan/schedules/partition.h"

namespace parbench::report {

const std::string* find_note(const CaseResult& c, std::string_view name) {
  return find_value(c.notes, name);
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
