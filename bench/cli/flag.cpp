// Conversions between a flag's texts, its typed value and the variable that holds it.
#include "bench/cli/flag.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "kernels/base/error.h"

namespace parbench {
namespace {

template <typename T>
struct Optional : std::false_type {};
template <typename T>
struct Optional<std::optional<T>> : std::true_type {};

void check_given(const FlagRow& row, const std::vector<std::string>& texts) {
  const std::string name = spelled(row.value.name);
  for (const std::string& text : texts) {
    // Another flag follows directly, so the value is missing.
    if (text.starts_with("--")) throw UsageError(fmt::format("{} needs a value", name));
  }
  if (row.kind == FlagKind::single && texts.size() > 1) {
    throw UsageError(fmt::format("{} was given {} times; give it once", name, texts.size()));
  }
}

std::vector<std::string> split_items(const FlagRow& row, const std::vector<std::string>& texts) {
  const std::string name = spelled(row.value.name);
  std::vector<std::string> items;
  for (const std::string& text : texts) {
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      std::string item(rest.substr(0, comma));
      if (item.empty()) {
        throw UsageError(fmt::format(
            "{} '{}' has an empty item; give values like a,b,c without spaces", name, text));
      }
      if (std::ranges::find(items, item) != items.end()) {
        throw UsageError(fmt::format("{} has '{}' twice; give each value once", name, item));
      }
      items.push_back(std::move(item));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return items;
}

Value parse_one(const FlagRow& row, const std::string& text) {
  if (text.empty()) {
    throw UsageError(
        fmt::format("{} '' is empty; give {}", spelled(row.value.name),
                    row.placeholder.empty() ? allowed_values(row.value) : row.placeholder));
  }
  return parse_value(row.value, text);
}

void assign(bool& target, const Value& value) { target = std::get<std::string>(value) == "true"; }
void assign(int& target, const Value& value) {
  target = static_cast<int>(std::get<std::int64_t>(value));
}
void assign(std::uint64_t& target, const Value& value) {
  target = static_cast<std::uint64_t>(std::get<std::int64_t>(value));
}
void assign(double& target, const Value& value) { target = std::get<double>(value); }
void assign(std::string& target, const Value& value) { target = std::get<std::string>(value); }
void assign(Preset& target, const Value& value) {
  target = std::get<std::string>(value) == "published" ? Preset::published : Preset::quick;
}
void assign(NumberFormat& target, const Value& value) {
  target = *number_format_named(std::get<std::string>(value));
}

void choose(const ScenarioChoice& choice, const std::vector<Value>& values) {
  choice.chosen->clear();
  for (const Value& value : values) {
    const std::string& name = std::get<std::string>(value);
    if (name == "all" && values.size() > 1) {
      throw UsageError("--scenario 'all' stands for every scenario; give it alone");
    }
    for (const auto& scenario : *choice.all) {
      if (name == "all" || scenario->name() == name) choice.chosen->push_back(scenario.get());
    }
  }
}

void store(const FlagRow& row, const std::vector<Value>& values) {
  const auto into = [&](auto target) {
    using T = decltype(target);
    if constexpr (std::is_same_v<T, std::monostate>) {
    } else if constexpr (std::is_same_v<T, ScenarioChoice>) {
      choose(target, values);
    } else if constexpr (std::is_same_v<T, AxisValues*>) {
      (*target)[row.value.name] = values;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>*>) {
      for (const Value& value : values) assign(target->emplace_back(), value);
    } else if constexpr (Optional<std::remove_pointer_t<T>>::value) {
      assign(target->emplace(), values.back());
    } else {
      assign(*target, values.back());
    }
  };
  std::visit(into, row.target);
}

std::optional<Value> as_value(std::monostate) { return std::nullopt; }
std::optional<Value> as_value(bool value) {
  return value ? std::optional<Value>(std::string("true")) : std::nullopt;
}
std::optional<Value> as_value(int value) { return std::int64_t{value}; }
std::optional<Value> as_value(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::optional<Value> as_value(double value) { return value; }
std::optional<Value> as_value(Preset value) {
  return std::string(value == Preset::published ? "published" : "quick");
}
std::optional<Value> as_value(NumberFormat value) { return std::string(to_string(value)); }
std::optional<Value> as_value(const std::string& value) {
  return value.empty() ? std::nullopt : std::optional<Value>(value);
}
std::optional<Value> as_value(const std::vector<std::string>& values) {
  return as_value(fmt::format("{}", fmt::join(values, ",")));
}
std::optional<Value> as_value(const ScenarioChoice& choice) {
  return as_value(names_of(*choice.chosen));
}

bool is_given(const FlagTexts& texts, std::string_view flag) {
  const auto found = texts.find(flag);
  return found != texts.end() && found->second.back() != "false";
}

}  // namespace

Axis text_rule(std::string name, std::string description) {
  return {.name = std::move(name), .description = std::move(description), .kind = AxisKind::text};
}

Axis choice_rule(std::string name, std::string description, std::vector<std::string> choices) {
  Axis axis = text_rule(std::move(name), std::move(description));
  axis.kind = AxisKind::choice;
  axis.choices = std::move(choices);
  return axis;
}

Axis number_rule(std::string name, std::string description, AxisKind kind, double min, double max) {
  Axis axis = text_rule(std::move(name), std::move(description));
  axis.kind = kind;
  axis.min = min;
  axis.max = max;
  return axis;
}

FlagRow text_flag(std::string name, std::string description, std::string placeholder,
                  Target target) {
  return {.value = text_rule(std::move(name), std::move(description)),
          .placeholder = std::move(placeholder),
          .target = target};
}

FlagRow choice_flag(std::string name, std::string description, std::vector<std::string> choices,
                    std::string placeholder, Target target) {
  return {.value = choice_rule(std::move(name), std::move(description), std::move(choices)),
          .placeholder = std::move(placeholder),
          .target = target};
}

FlagRow number_flag(std::string name, std::string description, AxisKind kind, double min,
                    double max, std::string placeholder, Target target) {
  return {.value = number_rule(std::move(name), std::move(description), kind, min, max),
          .placeholder = std::move(placeholder),
          .target = target};
}

FlagRow many_flag(std::string name, std::string description, std::string placeholder,
                  std::vector<std::string>* target) {
  FlagRow row = text_flag(std::move(name), std::move(description), std::move(placeholder), target);
  row.kind = FlagKind::many;
  return row;
}

FlagRow required(FlagRow row) {
  row.required = true;
  return row;
}

FlagRow toggle_flag(std::string name, std::string description, bool* target) {
  return {.value = text_rule(std::move(name), std::move(description)),
          .kind = FlagKind::toggle,
          .target = target};
}

std::vector<std::string> names_of(const std::vector<FlagRow>& rows) {
  std::vector<std::string> names;
  for (const FlagRow& row : rows) {
    if (!row.hidden) names.push_back(row.value.name);
  }
  return names;
}

const FlagRow* find_row(const std::vector<FlagRow>& rows, std::string_view name) {
  const auto found =
      std::ranges::find_if(rows, [&](const FlagRow& row) { return row.value.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

bool is_on(const FlagTexts& texts, std::string_view flag) {
  const auto found = texts.find(flag);
  if (found == texts.end()) return false;
  for (const std::string& text : found->second) {
    if (text == "true" || text == "false") continue;
    throw UsageError(
        fmt::format("--{} '{}' is neither true nor false; allowed: --{} alone, "
                    "--{}=true, --{}=false",
                    flag, text, flag, flag, flag));
  }
  return found->second.back() == "true";
}

std::vector<Value> parse_values(const FlagRow& row, const std::vector<std::string>& texts) {
  if (row.kind == FlagKind::toggle) {
    return {std::string(is_on({{row.value.name, texts}}, row.value.name) ? "true" : "false")};
  }
  check_given(row, texts);
  std::vector<Value> values;
  for (const std::string& text : row.kind == FlagKind::list ? split_items(row, texts) : texts) {
    values.push_back(parse_one(row, text));
  }
  return values;
}

void read_flag(const FlagRow& row, const std::vector<std::string>& texts) {
  store(row, parse_values(row, texts));
}

void read_flags(const std::vector<FlagRow>& rows, const FlagTexts& texts) {
  for (const FlagRow& row : rows) {
    const auto found = texts.find(row.value.name);
    if (found != texts.end()) read_flag(row, found->second);
  }
}

std::optional<Value> value_of(const FlagRow& row) {
  const auto from = [&](const auto& target) -> std::optional<Value> {
    using T = std::decay_t<decltype(target)>;
    if constexpr (std::is_same_v<T, AxisValues*>) {
      const auto found = target->find(row.value.name);
      if (found == target->end()) return std::nullopt;
      std::vector<std::string> texts;
      for (const Value& value : found->second) texts.push_back(to_string(value));
      return as_value(texts);
    } else if constexpr (!std::is_pointer_v<T>) {
      return as_value(target);
    } else if constexpr (Optional<std::remove_pointer_t<T>>::value) {
      return target->has_value() ? as_value(**target) : std::nullopt;
    } else {
      return as_value(*target);
    }
  };
  return std::visit(from, row.target);
}

bool exclude_each_other(const std::vector<FlagRow>& rows, std::string_view one,
                        std::string_view other) {
  return std::ranges::any_of(rows, [&](const FlagRow& row) {
    return std::ranges::any_of(row.excludes, [&](const Exclusion& exclusion) {
      return (row.value.name == one && exclusion.flag == other) ||
             (row.value.name == other && exclusion.flag == one);
    });
  });
}

void check_exclusions(const std::vector<FlagRow>& rows, const FlagTexts& texts) {
  for (const FlagRow& row : rows) {
    if (!is_given(texts, row.value.name)) continue;
    for (const Exclusion& exclusion : row.excludes) {
      if (!is_given(texts, exclusion.flag)) continue;
      throw UsageError(fmt::format("--{} cannot be combined with --{}: {}; leave one of them out",
                                   row.value.name, exclusion.flag, exclusion.reason));
    }
  }
}

}  // namespace parbench
