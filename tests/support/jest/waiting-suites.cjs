/** They wait for other processes and for time to pass, for most of their time; others work. */
const WAITING =
  /\/tests\/(contracts\/lock-|crash|processes|examples|interfaces\/cli|infrastructure\/locking\/lease\/gcs)/;

exports.waits = ({ path }) => WAITING.test(path);
