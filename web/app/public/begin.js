// Says why the page has not begun: plain enough for every browser, and read apart from the modules of the page.
(function () {
  function show(reason) {
    var place = document.getElementById('app');
    if (!place || place.firstChild) return;
    var text = document.createElement('p');
    text.className = 'empty bad';
    text.setAttribute('role', 'alert');
    text.textContent = 'The page has not begun: ' + reason + ' Reload the page, or open it in a newer browser.';
    place.appendChild(text);
  }
  window.addEventListener('error', function (event) {
    if (event.target && event.target.tagName === 'SCRIPT') show('a script did not load.');
    else if (event.message) show(event.message + '.');
  }, true);
  window.addEventListener('unhandledrejection', function (event) {
    show(String((event.reason && event.reason.message) || event.reason) + '.');
  });
})();
