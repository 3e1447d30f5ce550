// Handling of each flag of Google Benchmark 1.7, as a table.
#include "bench/cli/benchmark_flags.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kernels/base/error.h"

namespace parbench {
namespace {

constexpr std::string_view prefix = "--benchmark_";

/// How a flag of Google Benchmark 1.7 is treated.
enum class FlagHandling { ours, passed, refused };

struct KnownFlag {
  std::string_view name;  // without the prefix
  FlagHandling handling;
  std::string_view reason = {};  // why it is refused
};

constexpr std::array known_flags{
    KnownFlag{"filter", FlagHandling::ours},
    KnownFlag{"list_tests", FlagHandling::ours},
    KnownFlag{"repetitions", FlagHandling::ours},
    KnownFlag{"min_time", FlagHandling::ours},
    KnownFlag{"out", FlagHandling::ours},
    KnownFlag{"out_format", FlagHandling::ours},
    KnownFlag{"format", FlagHandling::ours},
    KnownFlag{"report_aggregates_only", FlagHandling::ours},
    KnownFlag{"display_aggregates_only", FlagHandling::ours},
    KnownFlag{"color", FlagHandling::ours},
    KnownFlag{"counters_tabular", FlagHandling::ours},
    KnownFlag{"context", FlagHandling::passed},
    KnownFlag{"perf_counters", FlagHandling::passed},
    KnownFlag{"time_unit", FlagHandling::passed},
    KnownFlag{"min_warmup_time", FlagHandling::refused,
              "every case is warmed up before its first sample already"},
    KnownFlag{"enable_random_interleaving", FlagHandling::refused,
              "samples are always interleaved in shuffled rounds"},
};

struct GivenFlag {
  std::string text;  // the whole argument
  const KnownFlag* known = nullptr;
  std::optional<std::string> value;
};

[[noreturn]] void reject(const GivenFlag& flag, std::string_view allowed) {
  throw UsageError(fmt::format("{}: the value must be {}", flag.text, allowed));
}

GivenFlag parse_flag(const std::string& text) {
  GivenFlag flag{text, nullptr, std::nullopt};
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) flag.value = text.substr(equals + 1);
  std::string_view name = std::string_view(text).substr(0, equals);
  if (name.starts_with(prefix)) {
    name.remove_prefix(prefix.size());
    const auto* found = std::ranges::find(known_flags, name, &KnownFlag::name);
    if (found != known_flags.end()) flag.known = found;
  }
  if (flag.known == nullptr) {
    std::vector<std::string_view> names;
    for (const KnownFlag& known : known_flags) {
      if (known.handling != FlagHandling::refused) names.push_back(known.name);
    }
    throw UsageError(fmt::format("{}: no such flag of Google Benchmark; there are {}{}", text,
                                 prefix, fmt::join(names, fmt::format(", {}", prefix))));
  }
  if (flag.known->handling == FlagHandling::refused) {
    throw UsageError(fmt::format("{}: has no meaning here: {}", text, flag.known->reason));
  }
  return flag;
}

const std::string& required_value(const GivenFlag& flag, std::string_view allowed) {
  if (!flag.value || flag.value->empty()) reject(flag, allowed);
  return *flag.value;
}

bool parse_bool(const GivenFlag& flag, std::string_view allowed = "true or false") {
  if (!flag.value) return true;
  static constexpr std::array yes{"true", "1", "yes", "on"};
  static constexpr std::array no{"false", "0", "no", "off"};
  if (std::ranges::find(yes, *flag.value) != yes.end()) return true;
  if (std::ranges::find(no, *flag.value) != no.end()) return false;
  reject(flag, allowed);
}

std::optional<bool> parse_color(const GivenFlag& flag) {
  if (flag.value == "auto") return std::nullopt;
  return parse_bool(flag, "auto, true or false");
}

RowFormat parse_format(const GivenFlag& flag) {
  constexpr std::string_view allowed = "console, json or csv";
  const std::string& value = required_value(flag, allowed);
  if (value == "console") return RowFormat::console;
  if (value == "json") return RowFormat::json;
  if (value == "csv") return RowFormat::csv;
  reject(flag, allowed);
}

template <typename Number>
Number parse_number(const GivenFlag& flag, Number max, std::string_view allowed) {
  const std::string& value = required_value(flag, allowed);
  Number number{};
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stop != end || !(number > 0) || number > max) reject(flag, allowed);
  return number;
}

/// An extended regular expression, the syntax of Google Benchmark's filter.
class Expression {
 public:
  /// Throws UsageError with the C library's message if the expression is invalid.
  explicit Expression(std::string_view text) {
    const int code = regcomp(&compiled_, std::string(text).c_str(), REG_EXTENDED | REG_NOSUB);
    if (code == 0) return;
    std::array<char, 128> reason{};
    (void)regerror(code, &compiled_, reason.data(), reason.size());
    throw UsageError(reason.data());
  }
  ~Expression() { regfree(&compiled_); }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  [[nodiscard]] bool found_in(std::string_view text) const {
    return regexec(&compiled_, std::string(text).c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_ = {};
};

std::string_view without_negation(std::string_view filter) {
  return filter.starts_with('-') ? filter.substr(1) : filter;
}

std::string parse_filter(const GivenFlag& flag) {
  const std::string& value = required_value(flag, "an extended regular expression");
  try {
    (void)Expression(without_negation(value));
  } catch (const UsageError& error) {
    reject(flag, fmt::format("an extended regular expression ({})", error.what()));
  }
  return value;
}

void take(BenchmarkFlags& flags, const GivenFlag& flag) {
  const std::string_view name = flag.known->name;
  if (name == "filter") {
    flags.filter = parse_filter(flag);
  } else if (name == "list_tests") {
    flags.list_tests = parse_bool(flag);
  } else if (name == "repetitions") {
    flags.repetitions = parse_number(flag, 1'000'000, "a whole number from 1 to 1000000");
  } else if (name == "min_time") {
    flags.min_time_seconds = parse_number(flag, 3600.0, "seconds above 0 and up to 3600");
  } else if (name == "out") {
    flags.out_path = required_value(flag, "a file's path");
  } else if (name == "out_format") {
    flags.out_format = parse_format(flag);
  } else if (name == "format") {
    flags.display_format = parse_format(flag);
  } else if (name == "report_aggregates_only") {
    flags.aggregates_only = parse_bool(flag);
  } else if (name == "display_aggregates_only") {
    flags.display_aggregates_only = parse_bool(flag);
  } else if (name == "color") {
    flags.color = parse_color(flag);
  } else {
    flags.counters_tabular = parse_bool(flag);
  }
}

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

/// Checks values that would make Google Benchmark end the process, or that it writes into its JSON
/// unescaped.
void check_passed(const GivenFlag& flag) {
  const std::string_view name = flag.known->name;
  if (name == "time_unit") {
    static constexpr std::array units{"ns", "us", "ms", "s"};
    const std::string& value = required_value(flag, "ns, us, ms or s");
    if (std::ranges::find(units, value) == units.end()) reject(flag, "ns, us, ms or s");
  }
  if (name == "context") {
    const std::string& value = required_value(flag, "key=value pairs");
    if (!is_utf8(value) || value.find('=') == std::string::npos) {
      reject(flag, "key=value pairs in UTF-8");
    }
  }
}

/// Passes flags to Google Benchmark. Resets flags that the environment may set and that would make
/// it write files or list names at every sample.
void hand_over(const std::vector<std::string>& passed) {
  static std::string program = "parbench";  // Google Benchmark keeps the pointer for its context
  std::vector<std::string> arguments{
      "--benchmark_out=", "--benchmark_context=", "--benchmark_list_tests=false",
      "--benchmark_time_unit=ns", "--benchmark_min_warmup_time=0"};
  arguments.insert(arguments.end(), passed.begin(), passed.end());
  std::vector<char*> pointers{program.data()};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) throw UsageError(fmt::format("{}: Google Benchmark cannot read it", pointers[1]));
}

}  // namespace

BenchmarkFlags initialize_google_benchmark(const std::vector<std::string>& flags) {
  BenchmarkFlags ours;
  for (const std::string& text : flags) {
    const GivenFlag flag = parse_flag(text);
    if (flag.known->handling == FlagHandling::ours) {
      take(ours, flag);
    } else {
      check_passed(flag);
      ours.passed.push_back(text);
    }
  }
  hand_over(ours.passed);
  return ours;
}

bool selects(const BenchmarkFlags& flags, std::string_view case_name) {
  if (flags.filter.empty() || flags.filter == "all") return true;
  const bool negated = flags.filter.starts_with('-');
  const bool found = Expression(without_negation(flags.filter)).found_in(case_name);
  return found != negated;
}

}  // namespace parbench
