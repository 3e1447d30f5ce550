// Parses strictly; if the text is not JSON, repairs it and parses again.
#include "reports/io/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "reports/io/foreign/other_programs.h"
#include "reports/io/foreign/repair.h"
#include "reports/io/google_benchmark_reader.h"
#include "reports/io/json.h"
#include "reports/io/pooled.h"

namespace parbench::report {
namespace {

using FileNotes = std::vector<FileNote>;

void rewind(std::istream& stream) {
  stream.clear();
  stream.seekg(0);
}

bool is_report(const Json& value) { return value.is_object() && value.contains("parbench"); }

/// Calls `read` and adds the run's name to UsageErrors; SyntaxErrors have line numbers instead.
template <class Read>
void read_named(const std::string& name, const Read& read) {
  try {
    read();
  } catch (const SyntaxError&) {
    throw;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
}

/// Appends the runs in a JSON value, if it has any. Throws UsageError for files of other programs.
void take_runs(const Json& file, std::vector<Report>& runs) {
  refuse_other_programs(file);
  if (is_google_benchmark(file)) {
    runs.push_back(from_google_benchmark(file));
    return;
  }
  const auto is_run = [](const Json& item) { return is_google_benchmark(item) || is_report(item); };
  if (!file.is_array() || !std::ranges::all_of(file, is_run)) return;
  for (const Json& run : file) {
    read_named(fmt::format("run {} of the list", runs.size() + 1), [&] {
      runs.push_back(is_report(run) ? from_json(run) : from_google_benchmark(run));
    });
  }
}

/// Appends the runs in a stream whose text begins at the given line of its file. Searches for the
/// object `parbench` first: the rows before it in a report then take no memory. Throws UsageError
/// for other JSON if `must_be_run`.
void read_runs(std::istream& stream, const ReadLimits& limits, std::size_t first_line,
               bool must_be_run, std::vector<Report>& runs, FileNotes& file_notes) {
  const Json own = parse_bounded(stream, limits, "parbench", {first_line, nullptr});
  if (is_report(own)) {
    runs.push_back(from_json(own));
    return;
  }
  rewind(stream);
  const std::size_t before = runs.size();
  take_runs(parse_bounded(stream, limits, {}, {first_line, &file_notes}), runs);
  if (runs.size() > before) return;
  if (must_be_run) runs.push_back(from_json(own));  // throws
  add_file_note(file_notes, "left out objects without benchmarks",
                fmt::format("line {}", first_line));
}

Report joined(std::vector<Report> runs, FileNotes file_notes) {
  if (runs.size() > 1) {
    add_file_note(file_notes, "the runs in the file were pooled as processes",
                  fmt::format("{} runs", runs.size()));
  }
  std::vector<NamedRun> named;
  for (Report& run : runs) named.push_back({{}, std::move(run)});
  Report report = pooled(std::move(named));
  for (FileNote& known : report.file_notes) {
    add_file_note(file_notes, known.what, std::move(known.first), known.count);
  }
  report.file_notes = std::move(file_notes);
  return report;
}

std::string whole_text(std::istream& stream) {
  rewind(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

Report report_after_repair(std::string text, const SyntaxError& error, const ReadLimits& limits) {
  const bool has_csv = has_google_benchmark_csv(text);
  const bool has_rows = text.find("\"benchmarks\"") != std::string::npos;
  FileNotes file_notes;
  std::vector<FoundObject> objects = repaired_objects(text, file_notes);
  text = {};
  std::vector<Report> runs;
  try {
    for (FoundObject& object : objects) {
      std::istringstream stream(std::move(object.text));
      const auto read = [&] {
        read_runs(stream, limits, object.first_line, false, runs, file_notes);
      };
      if (objects.size() == 1) {
        read();
      } else {
        read_named(fmt::format("run in line {}", object.first_line), read);
      }
    }
    if (runs.empty()) throw SyntaxError(error);
  } catch (const SyntaxError& left) {
    if (runs.empty() && has_csv) refuse_google_benchmark_csv();
    if (!has_rows) {
      throw UsageError(
          fmt::format("{}, or name a report that a run has written, such as reports/runs/NAME.json",
                      left.what()));
    }
    throw UsageError(fmt::format(
        "{}, or let the program write the file itself: --benchmark_out=FILE", left.what()));
  }
  return joined(std::move(runs), std::move(file_notes));
}

}  // namespace

Report report_in(std::istream& stream, const ReadLimits& limits) {
  std::vector<Report> runs;
  FileNotes file_notes;
  try {
    read_runs(stream, limits, 1, true, runs, file_notes);
  } catch (const SyntaxError& error) {
    return report_after_repair(whole_text(stream), error, limits);
  }
  return joined(std::move(runs), std::move(file_notes));
}

}  // namespace parbench::report
