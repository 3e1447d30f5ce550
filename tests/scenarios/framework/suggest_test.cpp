// Suggestions for mistyped words.
#include "scenarios/framework/suggest.h"

#include <gtest/gtest.h>

namespace parbench {
namespace {

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
  EXPECT_EQ(edit_distance("ABC", "abc"), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("split", "slpit"), 1) << "a swap of neighbours is one edit";
  EXPECT_EQ(edit_distance("ca", "abc"), 3) << "no edits inside a swap";
}

TEST(Suggest, FindsWhatWasMeant) {
  const std::vector<std::string> words{"branch", "matmul", "overlap", "pipeline", "max-time"};
  EXPECT_EQ(closest("pipline", words), "pipeline");
  EXPECT_EQ(closest("pipe", words), "pipeline");
  EXPECT_EQ(closest("matmull", words), "matmul");
  EXPECT_EQ(closest("max", words), "max-time");
  EXPECT_EQ(closest("Branch", words), "branch");
  EXPECT_EQ(closest("xyz", words), std::nullopt);
  EXPECT_EQ(closest("", words), std::nullopt);
  EXPECT_EQ(closest("x", {"n"}), std::nullopt) << "a single letter says too little";
  EXPECT_EQ(closest("word", {}), std::nullopt);
}

TEST(Suggest, WritesTheQuestion) {
  EXPECT_EQ(did_you_mean("splt", {"split"}, "--"), "; did you mean '--split'?");
  EXPECT_EQ(did_you_mean("other", {"split"}), "");
}

TEST(Suggest, NeverOffersWhatWasTyped) {
  EXPECT_EQ(did_you_mean("split", {"split", "splits"}), "");
  EXPECT_EQ(did_you_mean("--split", {"split"}, "--"), "");
  EXPECT_EQ(did_you_mean("split", {"split"}, "--"), "; did you mean '--split'?");
  EXPECT_EQ(did_you_mean("Split", {"split"}), "; did you mean 'split'?");
}

}  // namespace
}  // namespace parbench
