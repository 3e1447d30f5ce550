// Writes the parts of a page around the tables: contents, answers, machine, explanation.
#include "reports/views/html/html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

#include "kernels/base/units/units.h"
#include "reports/findings/findings.h"
#include "reports/model/printable.h"
#include "reports/text/text.h"
#include "reports/views/answer_table.h"
#include "reports/views/circumstances.h"
#include "reports/views/finding_lines.h"
#include "reports/views/html/html_calls.h"
#include "reports/views/html/html_cases.h"
#include "reports/views/html/html_data.h"
#include "reports/views/html/html_frame.h"
#include "reports/views/html/html_side_by_side.h"
#include "reports/views/html/html_table.h"
#include "reports/views/html/html_writer.h"
#include "reports/views/table_parts.h"

namespace parbench::report {
namespace {

constexpr std::string_view reading = R"(
<section id="reading" class="reading" aria-labelledby="reading-title">
<h2 id="reading-title">How to read this</h2>
<dl>
<dt>median, ± 95% CI</dt><dd>The median of the samples of one execution, and half the width of its
95% interval: the interval that holds the true median in 95 of 100 such runs. It makes no assumption
about the distribution of the samples.</dd>
<dt>n</dt><dd>The number of samples. Sampling of a case ends when its interval is as narrow as
the precision asks; where a time limit came first, a mark says so.</dd>
<dt>speedup</dt><dd>The baseline’s time over this case’s, sample by sample in the same round, so that
a drift of the machine hits both; in brackets its interval. An interval that holds 1 shows no
difference.</dd>
<dt>of bound</dt><dd>The bound over the median. The bound is the minimum time of any schedule of the
same tasks: of their longest chain of dependencies, or of the device (lane) with the most work, with
each task measured alone. 98%: no better schedule of these tasks exists, and only other tasks help.
70%: 30% of the time is lost to waiting, contention or launching.</dd>
<dt>verified</dt><dd>Each result was compared with the reference’s before it was timed. The number is
the largest error as a share of what is tolerated.</dd>
<dt>§</dt><dd>The device was throttled, by its temperature or its power for example, while some of
the samples were taken: its median may be that of a slower device. Or a CPU quota withheld CPU time
from the process.</dd>
<dt>busy and idle, timeline</dt><dd>After its samples each case ran again, and its streams recorded
when each task began and ended; of several executions the one nearest to the median of
the samples is shown. “Not representative”: also that one took much longer or shorter than the
median sample. A device is busy while
any of its streams runs a task, else idle: between tasks, or before its first and after its last.
All shares are of the whole time, from the host’s first call to the end of the last task.</dd>
<dt>samples over time</dt><dd>Cases are sampled in interleaved rounds. A jump or a slope that all of
them share is caused by the machine, not by a strategy.</dd>
</dl>
</section>
)";

/// Returns the scenarios of a report: "pipeline, branch".
std::string scenarios_text(const Report& report) {
  std::vector<std::string> names;
  for (const auto& group : by_scenario(report)) names.push_back(group.scenario);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string title_of(const std::vector<NamedReport>& reports) {
  if (reports.size() != 1) return fmt::format("parbench: {} reports", reports.size());
  const Report& report = reports.front().report;
  return fmt::format("parbench: {} on {}", scenarios_text(report), report.machine.host);
}

std::string join_numbers(const std::vector<int>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string of_scenario(const std::string& scenario) {
  return scenario.empty() ? std::string() : " of " + scenario;
}

/// Returns "NVIDIA H200, 139.8 GiB, compute capability 9.0, multiprocessors 132".
std::string device_text(const Device& device) {
  std::string text = device.model;
  if (!device.cores.empty()) {
    text +=
        fmt::format(", core{} {}", device.cores.size() == 1 ? "" : "s", join_numbers(device.cores));
  }
  text += ", " + format_bytes(static_cast<double>(device.memory_bytes));
  for (const auto& [name, value] : device.facts) text += fmt::format(", {} {}", name, value);
  return text;
}

/// Writes one page for several reports.
class Page {
 public:
  Page(const std::vector<NamedReport>& reports, const WebAssets& assets,
       const std::vector<PageLink>& up)
      : reports_(reports), assets_(assets), up_(up) {}

  std::string render() {
    open_page(html_, assets_, title_of(reports_), up_);
    contents();
    open_results(html_, assets_);
    write_side_by_side(html_, assets_, reports_);
    for (std::size_t i = 0; i < reports_.size(); ++i) article(i);
    html_.raw(reading).raw("</main>\n");
    close_page(html_, assets_, "parbench-data", [&] { return page_data_text(reports_); });
    return html_.take();
  }

 private:
  [[nodiscard]] bool several() const { return reports_.size() > 1; }
  /// Returns the heading level of scenarios and machines, below the report's name if shown.
  [[nodiscard]] std::string_view heading() const { return several() ? "h3" : "h2"; }

  void contents() {
    html_.raw("<nav aria-label=\"Contents\">\n<ul>\n");
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      if (several()) html_.raw("<li>");
      if (several()) write_link(html_, {"#" + report_id(i), reports_[i].name});
      if (several()) html_.raw("\n<ul>\n");
      scenario_items(i);
      if (several()) html_.raw("</ul></li>\n");
    }
    item("#reading", "How to read this");
    html_.raw("</ul>\n</nav>\n");
  }

  void scenario_items(std::size_t report) {
    const auto groups = by_scenario(reports_[report].report);
    for (std::size_t k = 0; k < groups.size(); ++k) {
      item("#" + scenario_id(report, k), groups[k].scenario);
    }
  }

  void item(const std::string& target, std::string_view text) {
    html_.raw("<li>");
    write_link(html_, {target, std::string(text)});
    html_.raw("</li>\n");
  }

  void article(std::size_t index) {
    const auto& [name, report] = reports_[index];
    html_.open("article", {{"id", report_id(index)}}).raw("\n");
    if (several()) html_.element("h2", name).raw("\n");
    const std::string start = report.started_utc.empty() ? "" : report.started_utc + " · ";
    html_.element("p", start + counts_text(report),
                  {{"class", report.complete ? "counts" : "counts incomplete"}});
    html_.raw("\n");
    for (const auto& notes :
         {notes_on_models(report), notes_on_file(report), process_errors(report)}) {
      for (const std::string& note : notes) {
        html_.element("p", note, {{"class", "note"}}).raw("\n");
      }
    }
    const auto groups = by_scenario(report);
    if (groups.empty()) html_.element("p", "This report has no cases.", {{"class", "note"}});
    for (std::size_t k = 0; k < groups.size(); ++k) section(index, k, groups[k]);
    machine(report);
    html_.raw("</article>\n");
  }

  void section(std::size_t report_index, std::size_t index, const ScenarioCases& group) {
    const Report& report = reports_[report_index].report;
    const std::string id = scenario_id(report_index, index);
    html_.open("section", {{"id", id}, {"class", "scenario"}}).raw("\n");
    html_.element(heading(), group.scenario).raw("\n");
    if (const Answer* answer = find_answer(report, group.scenario)) {
      html_.element("p", answer->question, {{"class", "question"}}).raw("\n");
      if (!answer->text.empty()) html_.element("p", answer->text, {{"class", "answer"}}).raw("\n");
      for (const std::string& warning : answer->warnings) {
        html_.element("p", warning, {{"class", "warning"}}).raw("\n");
      }
      if (const auto table = answer_table(*answer)) {
        write_table(html_, *table, {.css_class = "settings", .label = "Recommended settings"});
      }
    }
    reasons(group);
    html_.open("div", {{"class", "pictures"}, {"data-for", id}}).raw("</div>\n");
    write_case_table(html_, group, id);
    write_calls(html_, group);
    write_published(html_, report, group);
    html_.raw("</section>\n");
  }

  void reasons(const ScenarioCases& group) {
    const auto findings = findings_of(*group.report, group.scenario);
    if (findings.empty()) return limits(group);
    const CaseLabels labels(group.cases);
    html_.raw("<ul class=\"reasons\">\n");
    for (const Finding* finding : findings) {
      html_.raw("<li>");
      html_.element("strong", labels.label(finding->cases.front()));
      html_.text(fmt::format(": {}{}.", finding->text, count_of_several(finding->cases.size())));
      if (!finding->advice.empty()) {
        html_.raw(" ").element("span", fmt::format("Try: {}.", finding->advice));
      }
      html_.raw("</li>\n");
    }
    html_.raw("</ul>\n");
    limits(group);
  }

  void limits(const ScenarioCases& group) {
    const std::string line = limits_line(group);
    if (!line.empty()) html_.element("p", line, {{"class", "note"}}).raw("\n");
  }

  void machine(const Report& report) {
    html_.raw("<section class=\"machine\">\n").element(heading(), "Machine and run").raw("\n");
    html_.element("p", fmt::format("{}", fmt::join(machine_items(report), " · "))).raw("\n<dl>\n");
    const Machine& machine = report.machine;
    fact("commit", machine.commit.value_or(""));
    fact("commit subject", machine.commit_subject.value_or(""));
    fact("commit author", machine.commit_author.value_or(""));
    for (const auto& [key, value] : report.labels) fact("label " + key, value);
    fact("host", machine.host);
    fact("kernel", machine.kernel);
    if (machine.governor) fact("frequency governor", *machine.governor);
    if (machine.cpu_mhz) fact("clock at the start", fmt::format("{:.0f} MHz", *machine.cpu_mhz));
    fact("cores allowed", join_numbers(machine.cores_allowed));
    if (!machine.compiler.empty()) fact("compiler", machine.compiler + ", " + machine.build_type);
    for (const auto& [name, value] : machine.environment) fact(name, value);
    for (const Device& device : report.devices) {
      fact(device.name + of_scenario(device.scenario), device_text(device));
    }
    for (const Link& link : report.links) {
      fact(fmt::format("{} – {}{}", link.from, link.to, of_scenario(link.scenario)), link.kind);
    }
    fact("command", fmt::format("{}", fmt::join(report.command_line, " ")));
    html_.raw("</dl>\n</section>\n");
  }

  void fact(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    html_.element("dt", name).element("dd", value).raw("\n");
  }

  const std::vector<NamedReport>& reports_;
  const WebAssets& assets_;
  const std::vector<PageLink>& up_;
  HtmlWriter html_;
};

}  // namespace

std::string to_html(const std::vector<NamedReport>& reports, const WebAssets& assets,
                    const std::vector<PageLink>& up) {
  std::vector<NamedReport> shown;
  for (const auto& [name, report] : reports) shown.push_back({printable(name), printable(report)});
  return Page(shown, assets, up).render();
}

}  // namespace parbench::report
