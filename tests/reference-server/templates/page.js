// The buttons of the control port's page. Each sends one request to the control endpoint, then shows the new state.
const send = async (method, path, body) => {
  const headers = body ? { "Content-Type": "application/json" } : {};
  const response = await fetch(path, { method, headers, body });
  if (response.ok) location.reload();
  else document.querySelector("output").value = (await response.json()).error;
};
document.addEventListener("click", ({ target }) => {
  const { method, path } = target.dataset;
  if (path) send(method, path);
});
document.forms.fault.addEventListener("submit", (event) => {
  event.preventDefault();
  const { operation, when, then } = event.target.elements;
  const only = operation.value ? `"operation": ${JSON.stringify(operation.value)}, ` : "";
  // Sends the fields exactly as typed, so that the error names the mistake.
  send("POST", "/-/faults", `{"faults": [{${only}"when": ${when.value || "{}"}, "then": ${then.value}}]}`);
});
document.forms.clock.addEventListener("submit", (event) => {
  event.preventDefault();
  send("POST", "/-/clock", `{"advanceSeconds": ${event.target.elements.seconds.value}}`);
});
