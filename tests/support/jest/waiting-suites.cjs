/** They wait for other processes and for time to pass, for most of their time; others work. */
const WAITING =
  /\/tests\/(contracts\/lock-|crash|processes|examples|interfaces\/(cli|http\/connections)|infrastructure\/(locking\/lease|snapshots)\/gcs)/;

exports.waits = ({ path }) => WAITING.test(path);
