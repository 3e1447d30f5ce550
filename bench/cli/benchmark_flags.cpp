// Handling of each flag of Google Benchmark 1.7, as a table.
#include "bench/cli/benchmark_flags.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"
#include "kernels/base/number.h"

namespace parbench {
namespace {

constexpr std::string_view prefix = "--benchmark_";

struct GivenFlag {
  std::string text;  // the whole argument
  std::optional<std::string> value;
};

[[noreturn]] void reject(const GivenFlag& flag, std::string_view allowed) {
  throw UsageError(fmt::format("{}: the value must be {}", flag.text, allowed));
}

const std::string& required_value(const GivenFlag& flag, std::string_view allowed) {
  if (!flag.value || flag.value->empty()) reject(flag, allowed);
  return *flag.value;
}

bool parse_switch(const GivenFlag& flag, std::string_view allowed) {
  if (!flag.value) return true;
  static constexpr std::array yes{"true", "1", "yes", "on"};
  static constexpr std::array no{"false", "0", "no", "off"};
  if (std::ranges::find(yes, *flag.value) != yes.end()) return true;
  if (std::ranges::find(no, *flag.value) != no.end()) return false;
  reject(flag, allowed);
}

bool parse_bool(const GivenFlag& flag) { return parse_switch(flag, "true or false"); }

std::optional<bool> parse_color(const GivenFlag& flag) {
  if (flag.value == "auto") return std::nullopt;
  return parse_switch(flag, "auto, true or false");
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
  const auto number = number_in<Number>(required_value(flag, allowed));
  if (!number || !(*number > 0) || *number > max) reject(flag, allowed);
  return *number;
}

int parse_repetitions(const GivenFlag& flag) {
  return parse_number(flag, 1'000'000, "a whole number from 1 to 1000000");
}

double parse_seconds(const GivenFlag& flag) {
  return parse_number(flag, 3600.0, "seconds above 0 and up to 3600");
}

std::string parse_path(const GivenFlag& flag) { return required_value(flag, "a file's path"); }

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

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

using Handler = void (*)(BenchmarkFlags& flags, const GivenFlag& flag);

/// Stores the parsed value of a flag that parbench implements.
template <auto member, auto parse>
void set(BenchmarkFlags& flags, const GivenFlag& flag) {
  flags.*member = parse(flag);
}

void pass(BenchmarkFlags& flags, const GivenFlag& flag) { flags.passed.push_back(flag.text); }

/// Passes --benchmark_time_unit if it is valid; otherwise Google Benchmark would end the process.
void pass_unit(BenchmarkFlags& flags, const GivenFlag& flag) {
  static constexpr std::array units{"ns", "us", "ms", "s"};
  const std::string& value = required_value(flag, "ns, us, ms or s");
  if (std::ranges::find(units, value) == units.end()) reject(flag, "ns, us, ms or s");
  pass(flags, flag);
}

/// Passes --benchmark_context if it is valid. Google Benchmark would copy invalid UTF-8 into its
/// JSON.
void pass_context(BenchmarkFlags& flags, const GivenFlag& flag) {
  const std::string& value = required_value(flag, "key=value pairs");
  if (!is_utf8(value) || value.find('=') == std::string::npos) {
    reject(flag, "key=value pairs in UTF-8");
  }
  pass(flags, flag);
}

struct KnownFlag {
  std::string_view name;     // without the prefix
  Handler handle = nullptr;  // null: the flag is refused
  std::string_view reason = {};
};

using Flags = BenchmarkFlags;
constexpr std::array known_flags{
    KnownFlag{"filter", set<&Flags::filter, parse_filter>},
    KnownFlag{"list_tests", set<&Flags::list_tests, parse_bool>},
    KnownFlag{"repetitions", set<&Flags::repetitions, parse_repetitions>},
    KnownFlag{"min_time", set<&Flags::min_time_seconds, parse_seconds>},
    KnownFlag{"out", set<&Flags::out_path, parse_path>},
    KnownFlag{"out_format", set<&Flags::out_format, parse_format>},
    KnownFlag{"format", set<&Flags::display_format, parse_format>},
    KnownFlag{"report_aggregates_only", set<&Flags::aggregates_only, parse_bool>},
    KnownFlag{"display_aggregates_only", set<&Flags::display_aggregates_only, parse_bool>},
    KnownFlag{"color", set<&Flags::color, parse_color>},
    KnownFlag{"counters_tabular", set<&Flags::counters_tabular, parse_bool>},
    KnownFlag{"context", pass_context},
    KnownFlag{"perf_counters", pass},
    KnownFlag{"time_unit", pass_unit},
    KnownFlag{.name = "min_warmup_time",
              .reason = "every case is warmed up before its first sample already"},
    KnownFlag{.name = "enable_random_interleaving",
              .reason = "samples are always interleaved in shuffled rounds"},
};

/// Returns the handler of a flag. Throws UsageError if the flag is unknown or refused.
Handler handler_of(const std::string& text) {
  std::string_view name = std::string_view(text).substr(0, text.find('='));
  name.remove_prefix(std::min(name.size(), prefix.size()));
  const auto* const known = std::ranges::find(known_flags, name, &KnownFlag::name);
  if (!text.starts_with(prefix) || known == known_flags.end()) {
    std::vector<std::string_view> names;
    for (const KnownFlag& one : known_flags) {
      if (one.handle != nullptr) names.push_back(one.name);
    }
    throw UsageError(fmt::format("{}: no such flag of Google Benchmark; there are {}{}", text,
                                 prefix, fmt::join(names, fmt::format(", {}", prefix))));
  }
  if (known->handle != nullptr) return known->handle;
  throw UsageError(fmt::format("{}: has no meaning here: {}", text, known->reason));
}

/// Passes flags to Google Benchmark. Resets some flags first, because environment variables may
/// have set them, for example to write files or list names at every sample.
void hand_over(const std::vector<std::string>& passed) {
  static std::string program = "parbench";  // Google Benchmark keeps the pointer for its context
  std::vector<std::string> arguments{
      "--benchmark_out=",         "--benchmark_context=",          "--benchmark_list_tests=false",
      "--benchmark_time_unit=ns", "--benchmark_min_warmup_time=0", "--benchmark_perf_counters="};
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
    const Handler handle = handler_of(text);
    const std::size_t equals = text.find('=');
    GivenFlag flag{text, std::nullopt};
    if (equals != std::string::npos) flag.value = text.substr(equals + 1);
    handle(ours, flag);
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
