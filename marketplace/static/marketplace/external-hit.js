// The helper functions that pages of HTMLQuestions have always been able to call.
"use strict";

function turkGetParam(name, fallback) {
  const value = new URLSearchParams(window.location.search).get(name);
  return value === null ? fallback ?? "" : value;
}

function turkGetSubmitToHost() {
  return turkGetParam("turkSubmitTo", "");
}

// Fill in the assignment's id, and let the form post to the marketplace; in a preview it cannot.
function turkSetAssignmentID(formName, buttonName) {
  const form = document.getElementById(formName || "mturk_form");
  const button = document.getElementById(buttonName || "submitButton");
  const id = turkGetParam("assignmentId", "");
  const input = document.getElementById("assignmentId");
  if (input) input.value = id;
  if (!id || id === "ASSIGNMENT_ID_NOT_AVAILABLE") {
    if (button) {
      button.disabled = true;
      if ("value" in button && button.tagName === "INPUT") {
        button.value = "Accept the HIT before you submit";
      } else {
        button.textContent = "Accept the HIT before you submit";
      }
    }
    return;
  }
  const host = turkGetSubmitToHost();
  if (form && host) form.action = `${host}/mturk/externalSubmit`;
}
