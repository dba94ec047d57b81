// A library with the name of NCCL and without its functions.
extern "C" int other_function() { return 0; }
