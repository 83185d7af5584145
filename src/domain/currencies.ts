/**
 * ISO 4217:2015, list one as its maintenance agency published it on 2026-09-17, with amendments up to 180. Written down
 * here and asked nowhere: a platform's data are another organisation's, and change under a program that does not.
 */
const codesByMinorUnitDigits: readonly (readonly [digits: number, codes: string])[] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF
     CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
     GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL
     MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR
     PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP
     TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  ],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
];

/**
 * How many digits the minor unit of each currency takes. The codes for which the list says "N.A." (gold, special drawing
 * rights, test codes) are left out: what has no minor unit cannot be counted in it.
 */
export const minorUnitDigits: ReadonlyMap<string, number> = new Map(
  codesByMinorUnitDigits.flatMap(([digits, codes]) => codes.split(/\s+/).map((code) => [code, digits])),
);
