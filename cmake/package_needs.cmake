# CPack reads this before it packs. It would write a .deb that depends on nothing where the tool is
# missing that finds the libraries of a program.
find_program(shlibdeps dpkg-shlibdeps)
if(NOT shlibdeps)
  message(FATAL_ERROR "dpkg-shlibdeps is missing; install it with: sudo apt-get install dpkg-dev")
endif()
