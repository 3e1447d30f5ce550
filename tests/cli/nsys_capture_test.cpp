// scripts/nsys-capture with a stand-in for nsys that writes down what it is asked to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace parbench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NsysCapture : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(fs::path(SOURCE_FOLDER) / "scripts", folder_ / "scripts", fs::copy_options::recursive);
    fs::create_directories(folder_ / "tools");
    has_gpus(1);
  }

  void program(const std::string& name, const std::string& script) const {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/bash\n" << script;
    fs::permissions(path, fs::perms::owner_all);
  }

  /// A parbench that says so, and otherwise ends with the code that it is given.
  void has_gpus(int count) const {
    const std::string gpus =
        count > 0 ? "cuda: " + std::to_string(count) + " GPU: made up" : "cuda: no NVIDIA driver";
    program("parbench", "if [[ $1 == devices ]]; then echo '" + gpus +
                            "'; echo \"NVTX: ${NVTX:-3}\"; exit 0; fi\necho \"parbench $*\" "
                            ">>\"$LOG\"\nexit \"${CODE:-0}\"\n");
  }

  void install_nsys() const {
    program("tools/nsys",
            "if [[ $2 == --help ]]; then echo 'traces: cuda, nvtx, cudnn, cublas'; exit 0; fi\n"
            "echo \"nsys $*\" >>\"$LOG\"\n"
            "[[ $1 == profile ]] || exit 0\n"
            "while [[ $1 != -o ]]; do shift; done\n"
            "[[ -n ${NO_TRACE:-} ]] || touch \"$2.nsys-rep\"\n"
            "shift 3\n\"$@\"\n");
  }

  [[nodiscard]] Finished capture(
      std::vector<std::string> words,
      std::vector<std::pair<std::string, std::string>> extra = {}) const {
    words.insert(words.begin(), (folder_ / "scripts/nsys-capture").string());
    extra.emplace_back("PATH", (folder_ / "tools").string() + ":/usr/bin:/bin");
    extra.emplace_back("LOG", log());
    return run(words, {folder_.path(), extra});
  }

  [[nodiscard]] std::string log() const { return (folder_ / "log").string(); }
  [[nodiscard]] std::string trace() const { return (folder_ / "traces/one").string(); }

  TemporaryFolder folder_;
};

TEST_F(NsysCapture, CapturesBetweenStartAndStopOfTheProfiler) {
  install_nsys();
  const Finished finished = capture({"--output", trace(), "--", "--scenario", "branch"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string done = text_of(log());
  EXPECT_THAT(done, AllOf(HasSubstr("--trace=cublas,cudnn,cuda,nvtx"), HasSubstr("--sample=none"),
                          HasSubstr("--cpuctxsw=none"), HasSubstr("--cuda-graph-trace=node"),
                          HasSubstr("--capture-range=cudaProfilerApi --capture-range-end=stop")));
  EXPECT_THAT(done, HasSubstr("\nparbench --for-profiler --scenario branch\n"));
  EXPECT_THAT(done, AllOf(HasSubstr("nsys stats --force-export=true"),
                          HasSubstr("nvtx_gpu_proj_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum"),
                          HasSubstr(trace() + ".nsys-rep")));
  EXPECT_THAT(finished.err, HasSubstr("trace: " + trace() + ".nsys-rep"));
}

TEST_F(NsysCapture, TracesAWholeRunWithoutAGpu) {
  install_nsys();
  has_gpus(0);
  const Finished finished = capture({"--output", trace(), "--", "--scenario", "branch"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(text_of(log()), Not(HasSubstr("--capture-range")));
}

TEST_F(NsysCapture, WarnsOfATraceWithoutRanges) {
  install_nsys();
  const std::vector<std::string> words{"--output", trace(), "--", "--scenario", "branch"};
  EXPECT_THAT(capture(words).err, Not(HasSubstr("NVTX")));
  const Finished without = capture(words, {{"NVTX", "not in this build"}});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_THAT(without.err, AllOf(HasSubstr("NVTX"), HasSubstr("scripts/nvtx")));
}

TEST_F(NsysCapture, EndsAsParbenchDoes) {
  install_nsys();
  const Finished finished =
      capture({"--output", trace(), "--", "--scenario", "branch"}, {{"CODE", "1"}});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(text_of(log()), HasSubstr("nsys stats")) << "what was traced is shown all the same";
}

TEST_F(NsysCapture, SaysWhatIsMissing) {
  const Finished absent = capture({"--", "--scenario", "branch"});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, AllOf(HasSubstr("nsys is not on the PATH"), HasSubstr("install")));
  install_nsys();
  EXPECT_THAT(capture({"--scenario", "branch"}).err, HasSubstr("behind '--'"));
  EXPECT_THAT(capture({"--"}).err, HasSubstr("nothing to run"));
  EXPECT_THAT(capture({"--output"}).err, HasSubstr("--output needs a name"));
  EXPECT_THAT(capture({"--", "devices"}).err,
              AllOf(HasSubstr("'devices' measures nothing"), Not(HasSubstr("--for-profiler"))));
  const Finished lost = capture({"--output", trace(), "--", "x"}, {{"NO_TRACE", "1"}});
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_THAT(lost.err, HasSubstr("has left no"));
}

TEST_F(NsysCapture, ShowsItsHelp) {
  const Finished finished = capture({"--help"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("scripts/nsys-capture [--output NAME] --"));
}

}  // namespace
}  // namespace parbench::testing
