"""Counter-ions and solvents of drug salts: names as written in a drug's name, and structures.

A fragment on this list is a salt former only beside a fragment that is not (FC-04).
"""

from __future__ import annotations

#: Name in a salt's name -> SMILES of the acid, base or metal it stands for.
COUNTERIONS: dict[str, str] = {
    "hydrochloride": "Cl", "dihydrochloride": "Cl.Cl", "chloride": "[Cl-]", "hydrobromide": "Br", "bromide": "[Br-]",
    "hydroiodide": "I", "iodide": "[I-]", "fluoride": "[F-]", "sulfate": "OS(=O)(=O)O", "sulphate": "OS(=O)(=O)O",
    "bisulfate": "OS(=O)(=O)O", "hemisulfate": "OS(=O)(=O)O", "nitrate": "O[N+](=O)[O-]", "phosphate": "OP(=O)(O)O",
    "diphosphate": "OP(=O)(O)O.OP(=O)(O)O", "perchlorate": "OCl(=O)(=O)=O", "carbonate": "OC(=O)O",
    "bicarbonate": "OC(=O)O", "thiocyanate": "SC#N", "hydroxide": "[OH-]",
    "acetate": "CC(=O)O", "maleate": "OC(=O)/C=C\\C(=O)O", "fumarate": "OC(=O)/C=C/C(=O)O",
    "hemifumarate": "OC(=O)/C=C/C(=O)O", "succinate": "OC(=O)CCC(=O)O", "malate": "OC(CC(=O)O)C(=O)O",
    "tartrate": "O[C@H]([C@@H](O)C(=O)O)C(=O)O", "bitartrate": "O[C@H]([C@@H](O)C(=O)O)C(=O)O",
    "citrate": "OC(=O)CC(O)(CC(=O)O)C(=O)O", "lactate": "CC(O)C(=O)O", "mesylate": "CS(=O)(=O)O",
    "methanesulfonate": "CS(=O)(=O)O", "mesilate": "CS(=O)(=O)O", "esylate": "CCS(=O)(=O)O",
    "isethionate": "OCCS(=O)(=O)O", "edisylate": "OS(=O)(=O)CCS(=O)(=O)O", "tosylate": "Cc1ccc(cc1)S(=O)(=O)O",
    "tosilate": "Cc1ccc(cc1)S(=O)(=O)O", "besylate": "OS(=O)(=O)c1ccccc1", "besilate": "OS(=O)(=O)c1ccccc1",
    "napsylate": "OS(=O)(=O)c1ccc2ccccc2c1", "camsylate": "CC1(C)C2CCC1(CS(=O)(=O)O)C(=O)C2",
    "benzoate": "OC(=O)c1ccccc1", "salicylate": "OC(=O)c1ccccc1O", "oxalate": "OC(=O)C(=O)O",
    "malonate": "OC(=O)CC(=O)O",
    "adipate": "OC(=O)CCCCC(=O)O",
    "gluconate": "OC[C@@H](O)[C@@H](O)[C@H](O)[C@@H](O)C(=O)O",
    "lactobionate": "OC[C@@H](O)[C@@H](O[C@@H]1O[C@H](CO)[C@H](O)[C@H](O)[C@H]1O)[C@H](O)[C@@H](O)C(=O)O",
    "trifluoroacetate": "OC(=O)C(F)(F)F",
    "formate": "OC=O",
    "propionate": "CCC(=O)O",
    "ascorbate": "OC[C@H](O)[C@H]1OC(=O)C(O)=C1O",
    "pamoate": "OC(=O)c1cc2ccccc2c(Cc2c(O)c(cc3ccccc23)C(=O)O)c1O",
    "embonate": "OC(=O)c1cc2ccccc2c(Cc2c(O)c(cc3ccccc23)C(=O)O)c1O",
    "hippurate": "OC(=O)CNC(=O)c1ccccc1", "nicotinate": "OC(=O)c1cccnc1", "orotate": "OC(=O)c1cc(=O)[nH]c(=O)[nH]1",
    "mandelate": "OC(C(=O)O)c1ccccc1", "stearate": "CCCCCCCCCCCCCCCCCC(=O)O", "xinafoate": "OC(=O)c1ccc2ccccc2c1O",
    "saccharinate": "O=C1NS(=O)(=O)c2ccccc12", "picrate": "Oc1c(cc(cc1[N+](=O)[O-])[N+](=O)[O-])[N+](=O)[O-]",
    "sodium": "[Na+]", "disodium": "[Na+].[Na+]", "trisodium": "[Na+].[Na+].[Na+]", "potassium": "[K+]",
    "dipotassium": "[K+].[K+]", "lithium": "[Li+]", "calcium": "[Ca+2]", "magnesium": "[Mg+2]", "zinc": "[Zn+2]",
    "aluminium": "[Al+3]", "barium": "[Ba+2]", "caesium": "[Cs+]", "silver": "[Ag+]",
    "ammonium": "[NH4+]", "meglumine": "CNC[C@H](O)[C@@H](O)[C@H](O)[C@H](O)CO",
    "tromethamine": "NC(CO)(CO)CO", "trometamol": "NC(CO)(CO)CO", "diethanolamine": "OCCNCCO", "olamine": "NCCO",
    "ethanolamine": "NCCO", "erbumine": "CC(C)(C)N", "tert-butylamine": "CC(C)(C)N", "choline": "C[N+](C)(C)CCO",
    "benzathine": "C(CNCc1ccccc1)NCc1ccccc1", "ethylenediamine": "NCCN", "triethylamine": "CCN(CC)CC",
    "diethylamine": "CCNCC", "piperazine": "C1CNCCN1", "procaine": "CCN(CC)CCOC(=O)c1ccc(N)cc1",
    "lysine": "NCCCC[C@H](N)C(=O)O", "arginine": "NC(=N)NCCC[C@H](N)C(=O)O",
}  # fmt: skip

#: Solvents that crystals hold.
SOLVENTS: dict[str, str] = {
    "H2O": "O", "methanol": "CO", "ethanol": "CCO", "isopropanol": "CC(C)O", "acetone": "CC(C)=O",
    "acetonitrile": "CC#N",
    "DMSO": "CS(C)=O",
    "DMF": "CN(C)C=O",
    "ethyl acetate": "CCOC(C)=O",
    "dichloromethane": "ClCCl",
}  # fmt: skip

_NUMBERS = {
    "hemi": 0.5, "mono": 1, "": 1, "sesqui": 1.5, "di": 2, "tri": 3, "tetra": 4, "penta": 5, "hexa": 6, "hepta": 7,
    "octa": 8, "nona": 9, "deca": 10,
}  # fmt: skip
#: Hydrate words -> waters per formula unit. Halves are doubled away where the structure is built.
HYDRATES: dict[str, float] = {f"{prefix}hydrate": number for prefix, number in _NUMBERS.items()}
