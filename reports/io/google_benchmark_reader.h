// Reports from files that other programs have written with Google Benchmark.
#pragma once

#include "reports/io/json_value.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Whether a file is of Google Benchmark: it has `benchmarks`, with a `context` or with times, and
/// no report of parbench in addition.
[[nodiscard]] bool is_google_benchmark(const Json& file);

/// Makes a report of such a file, whatever version of the library wrote it:
/// - the program is the scenario, each benchmark a case (see `benchmark_name`), each repetition a
///   sample in a round of its own, because nothing says which were taken next to each other;
/// - a benchmark that reported an error has failed, one that skipped itself was skipped, also if
///   only some repetitions did, and aggregates are not used;
/// - a case without a usable real time has failed; another field with an unusable value is unknown,
///   for that case, and a note names it;
/// - benchmarks of one name are numbered: "BM_sum", "BM_sum (2)";
/// - the processor is described by its caches, the only thing that is known of it; what the context
///   lacks is unknown: time, cores, caches;
/// - a commit comes from --benchmark_context=commit=HASH, with its subject and author from
///   commit_subject and commit_author; other texts of the context are labels.
/// Throws UsageError with the place ("benchmarks[3].time_unit"), what is wrong and the remedy; also
/// for a file that has aggregates only.
[[nodiscard]] Report from_google_benchmark(const Json& file);

}  // namespace parbench::report
