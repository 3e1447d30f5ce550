// Examples and exit codes, command by command.
#include "bench/command_help.h"

#include <string_view>

namespace parbench {
namespace {

std::string_view examples_of(Command command) {
  switch (command) {
    case Command::peaks:
      return "  parbench peaks\n"
             "      What the devices do at best: measured the first time, then shown.\n"
             "  parbench peaks --devices cuda:0 --dtype bf16 --refresh\n"
             "      Products of one format on one device anew, as after an upgrade of a library.\n";
    case Command::show:
      return "  parbench show reports/runs/before.json\n"
             "      Tables and answers once more.\n"
             "  parbench show reports/runs/before.json --calls\n"
             "      Which calls took the time of each case?\n";
    case Command::export_report:
      return "  parbench export reports/runs/before.json --format csv -o before.csv\n"
             "      A row for each case, for a spreadsheet.\n"
             "  parbench export reports/runs/before.json --format prometheus | promtool check "
             "metrics\n"
             "      Without -o it goes to standard output.\n";
    case Command::html:
      return "  parbench html reports/runs/before.json reports/runs/after.json -o page.html\n"
             "      Two runs on one page, to open in a browser.\n"
             "  parbench html reports/runs/before.json -o - | gzip > page.html.gz\n"
             "      To standard output.\n";
    case Command::dashboard:
      return "  parbench dashboard reports/runs -o site\n"
             "      A new site, or one of an earlier build with the reports that are new since.\n"
             "  parbench dashboard reports/runs -o site --strict\n"
             "      The same in a script, which is to fail where a file is no report.\n";
    case Command::compare:
      return "  parbench compare reports/runs/before.json after.json\n"
             "      What became slower or faster, beyond chance?\n"
             "  parbench compare before.json after.json --threshold 5 --format markdown -o "
             "comment.md\n"
             "      Changes of 5% or more, as a comment on a pull request.\n";
    case Command::ab:
      return "  parbench ab --a './old/parbench --scenario matmul' --b './new/parbench --scenario "
             "matmul'\n"
             "      Two builds.\n"
             "  parbench ab --a 'DNNL_MAX_CPU_ISA=AVX2 ./parbench --scenario branch' \\\n"
             "              --b './parbench --scenario branch' --max-time 600\n"
             "      Two environments, within ten minutes.\n";
    default:
      return {};
  }
}

std::string_view exit_codes_of(Command command) {
  switch (command) {
    case Command::list:
    case Command::devices:
      return "0 done; 1 the output was lost on its way; 2 bad usage.";
    case Command::peaks:
      return "0 done; 1 a device failed, the rates could not be kept, or the output was lost on "
             "its\n"
             "way; 2 bad usage.";
    case Command::dashboard:
      return "0 done; 1 the site could not be written to its end, or, with --strict, a file\n"
             "was skipped; 2 bad usage, or a folder that cannot be read, or that is no place for a "
             "site.";
    case Command::compare:
      return "0 nothing regressed; 1 a case failed in NEW, or NEW or one of its launches\n"
             "ended before its time, or the output was lost on its way; 2 bad usage, a bad report, "
             "or a place\n"
             "that cannot be written; 3 a case regressed; 4 nothing could be compared.";
    case Command::ab:
      return "0 nothing regressed; 1 a case failed with B, a run of B or one of its launches "
             "ended\n"
             "before its time, or the output was lost on its way;\n"
             "2 bad usage, a place that cannot be written, or a command that leaves no report;\n"
             "3 a case regressed; 4 nothing could be compared; 130 interrupted.";
    default:
      return "0 done, whatever a report says of its cases; 1 the output was lost on its way (a\n"
             "full disk); 2 bad usage, a bad report, or a place that cannot be written.";
  }
}

}  // namespace

std::string command_footer(Command command) {
  std::string text;
  if (const std::string_view examples = examples_of(command); !examples.empty()) {
    text += "Examples:\n" + std::string(examples) + '\n';
  }
  return text + "Exit codes: " + std::string(exit_codes_of(command));
}

}  // namespace parbench
