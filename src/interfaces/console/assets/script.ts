/**
 * Nothing here is needed for anything. It keeps a form from being sent twice, loads a page of things that change anew while
 * nobody is at work on it, and says how long ago something was since the page was loaded. The policy of the pages lets no
 * script ask for anything, so a page is refreshed as a whole.
 */
export const script = `"use strict";
(function () {
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent === "yes") {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    form.querySelectorAll("button").forEach(function (button) {
      button.setAttribute("aria-disabled", "true");
    });
  });
  // A page that comes back from the browser's memory may be sent again: the server knows whether it was.
  window.addEventListener("pageshow", function () {
    document.querySelectorAll("form[data-sent]").forEach(function (form) {
      delete form.dataset.sent;
      form.querySelectorAll("button").forEach(function (button) {
        button.removeAttribute("aria-disabled");
      });
    });
  });

  var touched = false;
  document.addEventListener("input", function () {
    touched = true;
  });
  function isAtWork() {
    var active = document.activeElement;
    var isIdle = !active || active === document.body || active.id === "content";
    var isReading = String(window.getSelection()) !== "" || document.querySelector("details[open]") !== null;
    return touched || !isIdle || isReading || document.visibilityState !== "visible";
  }
  var meta = document.querySelector('meta[name="refresh-after"]');
  if (meta !== null) {
    setInterval(function () {
      if (!isAtWork()) location.reload();
    }, Number(meta.content) * 1000);
  }

  var loaded = Date.now();
  setInterval(function () {
    var seconds = Math.round((Date.now() - loaded) / 1000);
    document.querySelectorAll("[data-loaded]").forEach(function (place) {
      place.textContent = "Loaded " + seconds + " s ago";
    });
  }, 1000);
})();
`;
