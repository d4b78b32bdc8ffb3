// The folders of the files in a chosen folder: [data-names] has the id of the field that gets them, one file a line.
// Without this module the files are sent without their folders, which most programs do not need.

for (const input of document.querySelectorAll("input[webkitdirectory][data-names]")) {
  const names = document.getElementById(input.dataset.names);
  input.addEventListener("change", () => {
    names.value = [...input.files].map((file) => file.webkitRelativePath || file.name).join("\n");
    if (names.value.length > names.maxLength && names.maxLength > 0) names.value = "";
  });
  names.value = ""; // a browser that goes back keeps the names, but not the files
}
