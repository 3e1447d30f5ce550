/// What nearly every test includes, compiled once for all of them (CMake's
/// target_precompile_headers). Tests name what they use all the same: clang-tidy reads them without
/// this file.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <thread>
#include <vector>
