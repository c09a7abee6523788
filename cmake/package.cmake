# What is installed beside the program, and packages: `cmake --build build --target package` makes osier_<version>_<arch>.deb.

# The manual page and the completions of shells are made by the program, from the same description as --help.
if(NOT CMAKE_CROSSCOMPILING)
  set(shell_files ${PROJECT_BINARY_DIR}/shell)
  file(MAKE_DIRECTORY ${shell_files})
  add_custom_command(
    OUTPUT ${shell_files}/osier.1 ${shell_files}/osier.bash ${shell_files}/_osier ${shell_files}/osier.fish
    COMMAND osier man > ${shell_files}/osier.1
    COMMAND osier completion bash > ${shell_files}/osier.bash
    COMMAND osier completion zsh > ${shell_files}/_osier
    COMMAND osier completion fish > ${shell_files}/osier.fish
    DEPENDS osier
    COMMENT "Manual page and completions"
    VERBATIM)
  add_custom_target(osier_shell_files ALL DEPENDS ${shell_files}/osier.1)
  install(FILES ${shell_files}/osier.1 DESTINATION share/man/man1)
  install(FILES ${shell_files}/osier.bash DESTINATION share/bash-completion/completions RENAME osier)
  install(FILES ${shell_files}/_osier DESTINATION share/zsh/vendor-completions)
  install(FILES ${shell_files}/osier.fish DESTINATION share/fish/vendor_completions.d)
endif()
install(FILES LICENSE DESTINATION share/doc/osier RENAME copyright)

set(CPACK_PACKAGE_NAME osier)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "Osier")
set(CPACK_PACKAGE_CONTACT "the authors of Osier <osier@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulates rods: hair, yarn, cables, ropes, trees, springs")
set(CPACK_PACKAGE_DESCRIPTION
    "Osier simulates slender elastic things in statics and dynamics, with contact and friction.\nScenes are JSON files; results are HDF5, CSV, USD, glTF and others.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # dpkg-shlibdeps finds the libraries that the program needs
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
