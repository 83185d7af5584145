/**
 * ISO 4217 as it was when exponents began to be stored: list one of 2026-09-17, and what had left it since 2022. A
 * migration never changes, so this is a copy and not the domain's table, which follows later editions.
 */
export const exponentOfIso4217: readonly (readonly [exponent: number, codes: readonly string[]])[] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" ")],
  [
    2,
    (
      "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF " +
      "CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD " +
      "GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL " +
      "MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR " +
      "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP " +
      "TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG " +
      "ANG BGN CUC HRK SLL ZWL"
    ).split(" "),
  ],
  [3, "BHD IQD JOD KWD LYD OMR TND".split(" ")],
  [4, "CLF UYW".split(" ")],
];

/** Null for what it did not list. */
export function exponentBeforeItWasKept(currency: string): number | null {
  return exponentOfIso4217.find(([, codes]) => codes.includes(currency))?.[0] ?? null;
}
