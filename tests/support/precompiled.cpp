/// Gives the target that compiles precompiled.h a source, which CMake asks for.
