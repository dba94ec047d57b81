# Every target gives the same bits. A run and a sweep of one scenario use different kernels, and
# their results must be equal on aarch64, with -march=native and in the clones of
# base/vector_clones.hpp too: the compiler never fuses a multiplication and an addition, neither in
# C++ nor in the host code of CUDA sources. Whoever defines stepsim_options includes this file.
target_compile_options(stepsim_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>")
