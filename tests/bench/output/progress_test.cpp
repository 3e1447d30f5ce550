// Progress as it is shown: widths, rates, and a terminal left clean.
#include "bench/output/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "bench/output/progress_messages.h"
#include "reports/text/text.h"

namespace parbench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ProgressState sampling() {
  ProgressState state;
  state.phase = "sampling";
  state.case_name = "pipeline/pipeline/model:resnet50/batch:48/image:128/split:12/devices:2";
  state.cases_done = 2;
  state.cases = 7;
  state.samples = 5;
  state.reached_precision = 0.013;
  state.fraction = 0.42;
  state.seconds_left = 65;
  return state;
}

ProgressState preparing() {
  ProgressState state;
  state.phase = "preparing";
  state.case_name = sampling().case_name;
  state.cases_done = 2;
  state.cases = 7;
  state.seconds_left = 170;
  state.left_is_limit = true;
  return state;
}

TEST(ProgressLine, SaysWhereItIs) {
  const std::string line = progress_line(sampling(), 0);
  EXPECT_THAT(line, HasSubstr("sampling  42%"));
  EXPECT_THAT(line, HasSubstr("split:12/devices:2"));
  EXPECT_THAT(line, HasSubstr("5 samples"));
  EXPECT_THAT(line, HasSubstr("±1.3%"));
  EXPECT_THAT(line, HasSubstr("2/7 cases"));
  EXPECT_THAT(line, HasSubstr("left"));
}

TEST(ProgressLine, CountsCasesWhileNothingElseIsKnown) {
  for (const int columns : {0, 200}) {
    const std::string line = progress_line(preparing(), columns);
    EXPECT_THAT(line, StartsWith("preparing case 3 of 7  pipeline/")) << "and no bar";
    EXPECT_THAT(line, Not(HasSubstr("%")));
    EXPECT_THAT(line, EndsWith("devices:2  2 min 50 s left at most"));
  }
}

TEST(ProgressLine, SaysWhichScenarioOfSeveralItsTimeIs) {
  ProgressState state = sampling();
  state.part = {.index = 1, .count = 5};
  EXPECT_THAT(progress_line(state, 0), EndsWith("  2/7 cases  scenario 2/5: 1 min 05 s left"));
}

TEST(ProgressLine, SaysWhichLaunchOfSeveralItsTimeIs) {
  ProgressState state = sampling();
  state.process = {.index = 1, .count = 5};
  EXPECT_THAT(progress_line(state, 0), HasSubstr("  process 2/5: 1 min 05 s left"));
  state.part = {.index = 0, .count = 2};
  EXPECT_THAT(progress_line(state, 0), HasSubstr("  process 2/5  scenario 1/2: 1 min 05 s left"));
}

TEST(ProgressMessages, ArriveAsProgressOfTheWholeRun) {
  std::ostringstream messages;
  double time = 0;
  const auto sender = make_progress_messages(messages, [&] { return time; });
  sender->update(sampling());
  sender->update(preparing());  // too soon
  sender->note("a \"case\" failed");
  time = 0.1;
  sender->update(preparing());
  std::ostringstream shown;
  const auto receiver =
      make_progress(shown, {.now = [time = 0.0]() mutable { return time += 10; }});
  std::istringstream stream(messages.str());
  for (std::string line; std::getline(stream, line);) {
    relay_progress(line, {.index = 1, .count = 2}, *receiver);
  }
  relay_progress("words of a library", {.index = 0, .count = 2}, *receiver);
  ProgressState first = sampling();
  first.process = {.index = 1, .count = 2};
  first.fraction = (1 + 0.42) / 2;
  ProgressState second = preparing();
  second.process = first.process;
  second.fraction = 0.5;
  EXPECT_EQ(shown.str(), progress_line(first, 0) + "\nprocess 2 of 2: a \"case\" failed\n" +
                             progress_line(second, 0) + "\nprocess 1 of 2: words of a library\n");
}

TEST(ProgressLine, FitsEveryWidth) {
  for (const ProgressState& state : {preparing(), sampling()}) {
    for (int columns = 1; columns <= 200; ++columns) {
      const std::string line = progress_line(state, columns);
      EXPECT_LE(report::display_width(line), static_cast<std::size_t>(columns)) << line;
    }
  }
}

TEST(ProgressLine, KeepsTheEndOfALongName) {
  const std::string line = progress_line(sampling(), 80);
  EXPECT_THAT(line, HasSubstr("…"));
  EXPECT_THAT(line, HasSubstr("devices:2"));
  EXPECT_THAT(line, Not(HasSubstr("pipeline/pipeline/model")));
}

TEST(ProgressLine, SurvivesNumbersThatAreNone) {
  ProgressState state = sampling();
  state.reached_precision = 1.0 / 0.0;
  state.seconds_left = 1.0 / 0.0;
  state.fraction = 7;
  const std::string line = progress_line(state, 0);
  EXPECT_THAT(line, HasSubstr("100%"));
  EXPECT_THAT(line, Not(HasSubstr("inf")));
}

class ProgressTest : public testing::Test {
 protected:
  std::unique_ptr<Progress> make(bool quiet, bool terminal, bool color = false) {
    ProgressOptions options;
    options.quiet = quiet;
    options.terminal = terminal;
    options.color = color;
    options.columns = [this] { return columns; };
    options.now = [this] { return clock; };
    return make_progress(out, std::move(options));
  }
  [[nodiscard]] std::ptrdiff_t count(char letter) const {
    const std::string text = out.str();
    return std::ranges::count(text, letter);
  }
  std::ostringstream out;
  double clock = 100;
  int columns = 100;
};

TEST_F(ProgressTest, QuietShowsNothing) {
  const auto progress = make(true, true);
  progress->update(sampling());
  progress->note("failed");
  progress->finish();
  EXPECT_EQ(out.str(), "");
}

TEST_F(ProgressTest, PlainLinesAreRare) {
  const auto progress = make(false, false);
  for (int i = 0; i < 120; ++i) {
    progress->update(sampling());
    clock += 0.1;
  }
  EXPECT_EQ(count('\n'), 3);
  EXPECT_EQ(count('\x1b'), 0);
  EXPECT_EQ(count('\r'), 0);
}

TEST_F(ProgressTest, ATerminalHasOneLineThatIsErasedAtTheEnd) {
  const auto progress = make(false, true);
  progress->update(sampling());
  clock += 1;
  progress->update(sampling());
  EXPECT_EQ(count('\n'), 0);
  EXPECT_EQ(count('\r'), 2);
  progress->finish();
  EXPECT_THAT(out.str(), EndsWith("\r\x1b[K"));
  const std::string shown = out.str();
  progress->finish();
  EXPECT_EQ(out.str(), shown);
}

TEST_F(ProgressTest, ATerminalIsRedrawnTenTimesASecondAtMost) {
  const auto progress = make(false, true);
  for (int i = 0; i < 1000; ++i) {
    progress->update(sampling());
    clock += 0.001;
  }
  EXPECT_LE(count('\r'), 11);
}

TEST_F(ProgressTest, ATerminalMayBecomeNarrow) {
  const auto progress = make(false, true);
  columns = 30;
  progress->update(sampling());
  const std::string line = out.str().substr(std::string("\r\x1b[K").size());
  EXPECT_LT(report::display_width(line), 30U);
}

TEST_F(ProgressTest, ColorOnlyWhenAsked) {
  make(false, true, false)->update(sampling());
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b[2m")));
  make(false, true, true)->update(sampling());
  EXPECT_THAT(out.str(), HasSubstr("\x1b[2m"));
}

TEST_F(ProgressTest, NotesStay) {
  const auto progress = make(false, true);
  progress->update(sampling());
  progress->note("pipeline/x failed: why");
  EXPECT_THAT(out.str(), EndsWith("\r\x1b[Kpipeline/x failed: why\n"));
}

}  // namespace
}  // namespace parbench
