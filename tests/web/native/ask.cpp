// The page's engine as a program: answers one question, given as the first argument.
#include <iostream>

extern "C" const char* stepsim_answer(const char* question);

int main(int count, char** arguments) {
  if (count != 2) {
    return 2;
  }
  std::cout << stepsim_answer(arguments[1]) << '\n';
}
